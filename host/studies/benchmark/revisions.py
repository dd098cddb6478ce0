"""Two revisions of the compiled executor against each other, each by its own command line."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

from host.errors import InputError
from host.graph.formats import write_graph
from host.measuring.measurements import Measured, Measurements, Request
from host.measuring.setting import describe_setting, processor_name
from host.results.table_text import markdown_table
from host.sources import digest_beside
from host.studies.benchmark.search import Workload
from sim.errors import SimulationError

__all__ = ["compare_revisions", "comparison_markdown"]

THREADS = (2, 1)
"""Threads that both revisions are measured with."""

_Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RevisionRequest(Request):
    """A search by a revision to be measured.

    Parameters
    ----------
    revision : str
        Its full name.
    side : {"base", "head"}
        What reports call it.
    tree : Path
        Where it is checked out.
    file : Path
        The graph.
    workload : Workload
        The search.
    threads : int
        Threads that the executor may use.
    repetition, repetitions : int
        Which one it is, from 1 on, of how many.
    """

    alone: ClassVar[bool] = True

    revision: str
    side: str
    tree: Path = field(compare=False)
    file: Path = field(compare=False)
    workload: Workload
    threads: int
    repetition: int
    repetitions: int

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"{self.side}, {self.threads} threads"

    def setting(self) -> dict[str, Any]:
        """Return what its result depends on besides: the processor, and how it is measured."""
        return {"processor": processor_name(), "sources": digest_beside(__file__)}

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Make the search by the command line of the tree, which checks it.

        Returns
        -------
        dict
            ``levels`` (cycles of each), ``cycles_per_second``, ``simulate_seconds`` and ``peak_memory_bytes``.

        Raises
        ------
        SimulationError
            It failed.
        """
        output = self.file.with_name("result.json")
        options = ["--config", self.workload.config, "--memory", self.workload.memory, "--threads", str(self.threads)]
        result = subprocess.run(
            [*_command_line(self.tree), "bfs", self.file, "--source", "0", *options, "--quiet", "--json", output],
            cwd=self.tree,
            env={**os.environ, "PYTHONPATH": str(self.tree)},
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            line, _, rest = result.stderr.strip().partition("\n")
            raise SimulationError(line or f"ended with status {result.returncode}", rest)
        document = json.loads(output.read_text())
        return {
            "levels": [level["cycles"] for level in document["levels"]],
            "cycles_per_second": document["wall"]["cycles_per_second"],
            "simulate_seconds": document["wall"]["simulate"],
            "peak_memory_bytes": document["wall"]["peak_memory_bytes"],
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        return f"{self.repetition} of {self.repetitions}, {result['cycles_per_second']:,.0f} cycles/s"


def compare_revisions(
    measurements: Measurements, root: Path, base: str, *, workload: Workload, repetitions: int
) -> _Record:
    """Measure the revision that a repository holds and another one, in turn.

    What is measured is kept until all is there.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    root : Path
        The repository's folder; what it writes is in ``build``.
    base : str
        The other revision.
    workload : Workload
        The search that both make.
    repetitions : int
        How often.

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
        file = folder / "graph.npz"
        write_graph(workload.graph.generate(), file)

        def request(side: str, threads: int, repetition: int) -> RevisionRequest:
            return RevisionRequest(
                revision=revisions[side],
                side=side,
                tree={"base": tree, "head": root}[side],
                file=file,
                workload=workload,
                threads=threads,
                repetition=repetition,
                repetitions=repetitions,
            )

        # The first one of a tree builds its executor.
        building = [request(side, 1, 0) for side in revisions]
        wanted = [
            request(side, threads, repetition)
            for repetition in range(1, repetitions + 1)
            for threads in THREADS
            for side in revisions
        ]
        results = measurements.measure([*building, *wanted])
    rows = [
        _row(
            threads,
            {
                side: [results[each] for each in wanted if (each.side, each.threads) == (side, threads)]
                for side in revisions
            },
        )
        for threads in THREADS
    ]
    document = {
        **describe_setting(),
        "config": workload.config,
        "memory": workload.memory,
        "graph": workload.graph_text,
        "revisions": revisions,
        "rows": rows,
    }
    measurements.forget([*building, *wanted])
    return document


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


def _row(threads: int, found: dict[str, list[_Record]]) -> _Record:
    speeds = {side: median(each["cycles_per_second"] for each in runs) for side, runs in found.items()}
    cycles = [each["levels"] for runs in found.values() for each in runs]
    return {
        "threads": threads,
        **speeds,
        "ratio": speeds["head"] / speeds["base"],
        "same": all(levels == cycles[0] for levels in cycles),
        "repetitions": found,
    }


def comparison_markdown(document: _Record) -> str:
    """Return the table of `compare_revisions`' document."""
    machine, revisions = document["machine"], document["revisions"]
    head = ("", "base, cycles/s", "this, cycles/s", "ratio", "same cycles")
    rows = [
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
        f"{machine['processor']}, {machine['cores']} cores\n\n"
        f"- base: {revisions['base']}\n- this: {revisions['head']}\n\n{markdown_table(head, rows)}"
    )
