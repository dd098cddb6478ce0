"""Two revisions of the compiled executor against each other, each by its own command line."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from host.errors import InputError
from host.graph.formats import write_graph
from host.graph.generators import random_graph
from host.measuring.setting import describe_setting
from host.studies.benchmark.table import aligned
from host.studies.benchmark.workloads import SEED, Workload
from sim.errors import SimulationError

__all__ = ["THREADS", "compare_revisions", "comparison_table"]

THREADS = (2, 1)
"""Threads that both revisions are measured with."""

_Record = dict[str, Any]


def compare_revisions(
    root: Path,
    base: str,
    *,
    workload: Workload,
    repetitions: int,
    on_measurement: Callable[[str], None] = lambda label: None,
) -> _Record:
    """Measure the revision that a repository holds and another one, in turn.

    Parameters
    ----------
    root : Path
        The repository's folder; what it writes is in ``build``.
    base : str
        The other revision.
    workload : Workload
        The search that both make.
    repetitions : int
        How often.
    on_measurement : callable, optional
        Told what is about to be measured.

    Returns
    -------
    dict
        JSON-able: the setting, both revisions, and for each number of threads ``rows`` with the medians, their ratio
        and whether the cycles agree.

    Raises
    ------
    InputError
        There is no repository or no such revision, or something in it was changed and not committed.
    SimulationError
        A measurement failed.
    """
    revisions = {"base": _check_repository(root, base), "head": _git(root, "rev-parse", "HEAD")}
    folder = root / "build" / "bench-compare"
    with _checked_out(root, revisions["base"], folder) as tree:
        graph = folder / "graph.npz"
        write_graph(random_graph(workload.vertices, workload.degree, SEED), graph)
        trees = {"base": tree, "head": root}
        found: dict[tuple[str, int], list[_Record]] = {(side, n): [] for side in trees for n in THREADS}
        for side in trees:
            on_measurement(f"{side}: building")
            _run(trees[side], graph, workload, threads=1, output=folder / "result.json")
        for repetition in range(repetitions):
            for threads in THREADS:
                for side in trees:
                    on_measurement(f"{side}, {threads} threads, {repetition + 1} of {repetitions}")
                    result = _run(trees[side], graph, workload, threads=threads, output=folder / "result.json")
                    found[side, threads].append(result)
    return {
        **describe_setting(),
        "config": workload.config,
        "memory": workload.memory,
        "graph": workload.graph,
        "revisions": revisions,
        "rows": [_row(threads, found["base", threads], found["head", threads]) for threads in THREADS],
    }


def _git(root: Path, *arguments: str) -> str:
    """Run git in a repository and return what it prints.

    Raises
    ------
    InputError
        It fails.
    """
    try:
        result = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputError(f"git: {error.strerror}") from None
    if result.returncode:
        raise InputError(f"git {arguments[0]} failed: {result.stderr.strip()}", path=root)
    return result.stdout.strip()


def _check_repository(root: Path, base: str) -> str:
    """Return the full name of a revision of a repository that holds no other changes."""
    if not (root / ".git").exists():
        raise InputError("is no git repository, so that there is nothing to compare with", path=root)
    if _git(root, "status", "--porcelain"):
        raise InputError(
            "has changes that are not committed: commit them, so that what is compared has a name", path=root
        )
    try:
        return _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    except InputError:
        raise InputError(f"there is no revision {base!r}", path=root) from None


@contextmanager
def _checked_out(root: Path, revision: str, folder: Path) -> Iterator[Path]:
    """Check a revision out below a folder, and remove both at the end, also of an interrupted block."""
    tree = folder / "base"
    try:
        _remove(root, folder)
        folder.mkdir(parents=True)
        _git(root, "worktree", "add", "--detach", str(tree), revision)
        yield tree
    finally:
        _remove(root, folder)


def _remove(root: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _git(root, "worktree", "prune")


def _command_line(tree: Path) -> list[str]:
    """Return what runs the command line of a tree, which is where the tree itself says."""
    module, _, function = tomllib.loads((tree / "pyproject.toml").read_text())["project"]["scripts"]["cyscc"].partition(
        ":"
    )
    return [sys.executable, "-c", f"import sys; from {module} import {function}; sys.exit({function}())"]


def _run(tree: Path, graph: Path, workload: Workload, *, threads: int, output: Path) -> _Record:
    """Make the search by the command line of a tree, and return its result."""
    options = ["--config", workload.config, "--memory", workload.memory, "--threads", str(threads)]
    result = subprocess.run(
        [*_command_line(tree), "bfs", str(graph), "--source", "0", *options, "--quiet", "--json", output],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        line, _, rest = result.stderr.strip().partition("\n")
        raise SimulationError(f"{tree}: {line or f'ended with status {result.returncode}'}", rest)
    document: _Record = json.loads(output.read_text())
    return {
        "levels": [level["cycles"] for level in document["levels"]],
        "cycles_per_second": document["wall"]["cycles_per_second"],
        "simulate_seconds": document["wall"]["simulate"],
        "peak_memory_bytes": document["wall"]["peak_memory_bytes"],
    }


def _row(threads: int, base: list[_Record], head: list[_Record]) -> _Record:
    speeds = {
        side: median(each["cycles_per_second"] for each in found) for side, found in (("base", base), ("head", head))
    }
    return {
        "threads": threads,
        **speeds,
        "ratio": speeds["head"] / speeds["base"],
        "same": all(each["levels"] == base[0]["levels"] for each in (*base, *head)),
        "repetitions": {"base": base, "head": head},
    }


def comparison_table(document: _Record) -> str:
    """Return the table of `compare_revisions`' document."""
    machine, revisions = document["machine"], document["revisions"]
    rows = [("", "base, cycles/s", "this, cycles/s", "ratio", "same cycles")]
    rows += [
        (
            f"{row['threads']} thread{'s' * (row['threads'] > 1)}",
            f"{row['base']:,.0f}",
            f"{row['head']:,.0f}",
            f"{row['ratio']:.2f}",
            "yes" if row["same"] else "NO",
        )
        for row in document["rows"]
    ]
    return (
        f"configuration {document['config']}, memory {document['memory']}, graph {document['graph']}; "
        f"{machine['processor']}, {machine['cores']} cores\n"
        f"base {revisions['base']}\nthis {revisions['head']}\n\n{aligned(rows)}"
    )
