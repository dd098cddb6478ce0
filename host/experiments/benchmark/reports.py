"""Results of benchmarks, of contenders or of two revisions, as documents and tables."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, TypedDict

from cyscc.host.experiments.benchmark.search import ContenderRequest, Preset, Workload
from cyscc.host.experiments.measuring.environment import describe_environment
from cyscc.host.experiments.measuring.measurements import Count, Measured, Measurements, Positive, Request
from cyscc.host.graph.formats import write_graph
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text, markdown_table
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.sources import digest_beside
from cyscc.sim.errors import SimulationError
from cyscc.sim.executors.comparison.contenders import CONTENDERS, missing_tool

__all__ = ["benchmark_markdown", "compare", "compare_revisions", "comparison_markdown", "run_benchmark"]

OURS = ("compiled-2", "compiled-1")
"""The project's executor, the reference of all comparisons, with two threads and with one."""

_LEAST_SHARE = 0.8
"""Least share of its threads' time that a run must get; below it, another process has used the cores."""

_SHORTEST = 0.5
"""Least seconds of a run for which that share is meaningful."""

_Record = dict[str, Any]


def run_benchmark(
    measurements: Measurements, preset: Preset, contenders: Sequence[str], *, repetitions: int | None = None
) -> _Record:
    """Measure contenders, starting with an empty cache of built executors.

    The graph of a slower contender also runs on the project's executor, alternating with it. Measurements stay in the
    store until all are complete: an interrupted benchmark resumes, and a completed one starts anew.

    Parameters
    ----------
    measurements : Measurements
        Performs the measurements.
    preset : Preset
        The workloads.
    contenders : sequence of str
        Names of contenders, of `CONTENDERS`.
    repetitions : int, optional
        Number of repetitions; by default that of the preset.

    Returns
    -------
    dict
        A JSON document: the setting, ``rows``, ``references`` (the project's executor on the other contenders' graphs)
        and ``warnings``.

    Raises
    ------
    SimulationError
        A measurement failed.
    """
    rows: list[_Record] = []
    references: list[_Record] = []
    own = [name for name in contenders if name in OURS]
    groups = [own] if own else []
    groups += [[name, *OURS] for name in contenders if name not in OURS]
    missing = {group[0]: missing_tool(group[0]) for group in groups}
    with tempfile.TemporaryDirectory(prefix="cyscc-bench-") as cache:
        requests = {
            group[0]: _requests(group, preset, repetitions, Path(cache)) for group in groups if not missing[group[0]]
        }
        wanted = [request for each in requests.values() for request in each]
        results = measurements.measure(wanted)
    for first, *others in groups:
        if missing[first] is not None:
            rows.append({"name": first, "label": CONTENDERS[first], "unavailable": missing[first]})
            continue
        workload = preset.workload(first)
        found = {
            name: summarise(name, workload, [results[each] for each in requests[first] if each.contender == name])
            for name in (first, *others)
        }
        ours = [row for name, row in found.items() if name in OURS]
        rows += [compare(row, ours) for row in (ours if first in OURS else [found[first]])]
        references += [] if first in OURS else ours
    # The project's executor is built only once: all its rows have the time of that build.
    executors = [row for row in (*rows, *references) if row["name"] in OURS]
    build = max((row["build_seconds"] for row in executors), default=None)
    for row in executors:
        row["build_seconds"] = build
    document = {
        **describe_environment(),
        "config": preset.config,
        "memory": preset.memory,
        "rows": rows,
        "references": references,
        "warnings": [warning for row in (*rows, *references) for warning in busy_warnings(row)],
    }
    measurements.forget(wanted)
    return document


def _requests(group: Sequence[str], preset: Preset, repetitions: int | None, cache: Path) -> list[ContenderRequest]:
    """Return the measurements of a group of contenders, alternating, on the graph of the first one."""
    workload = preset.workload(group[0])
    times = repetitions or preset.repetitions[group[0]]
    return [
        ContenderRequest(
            graph=workload.graph,
            contender=name,
            workload=workload,
            beside=group[0],
            repetition=repetition,
            repetitions=times,
            cache=cache,
        )
        for repetition in range(1, times + 1)
        for name in group
    ]


def summarise(name: str, workload: Workload, repetitions: list[_Record]) -> _Record:
    """Return the row of a contender: medians, and all repetitions.

    Raises
    ------
    SimulationError
        The repetitions differ in cycles or memory contents.
    """
    first = repetitions[0]
    if any(_result(each) != _result(first) for each in repetitions):
        raise SimulationError(
            f"{CONTENDERS[name]}, {workload.graph_text}: repetitions differ in cycles or memory contents"
        )
    speeds = [each["cycles"] / each["seconds"] for each in repetitions]
    return {
        "name": name,
        "label": CONTENDERS[name],
        "graph": {"vertices": workload.vertices, "degree": workload.degree, "edges_traversed": first["edges"]},
        "workload": workload.graph_text,
        "kernels": first["kernels"],
        "cycles": first["cycles"],
        "cycles_per_second": median(speeds),
        "kernel_cycles_per_second": median(speeds) * first["kernels"],
        "edges_per_second": median(each["edges"] / each["seconds"] for each in repetitions),
        "peak_memory_bytes": int(median(each["peak_memory_bytes"] for each in repetitions)),
        "build_seconds": first["build_seconds"],
        "repetitions": repetitions,
    }


def _result(repetition: _Record) -> tuple[Any, ...]:
    return repetition["levels"], repetition["cycles"], repetition["memory"], repetition["edges"]


def compare(row: _Record, ours: list[_Record]) -> _Record:
    """Return a row with its comparison to the project's executor on the same graph.

    ``same``: whether the cycles of every level and the memory contents are equal; None without a reference.
    ``faster``: the speed-up of the project's executor, by name; empty in its own rows.
    """
    others = [other for other in ours if other["name"] != row["name"]]
    result = _result(row["repetitions"][0])
    return {
        **row,
        "same": all(_result(other["repetitions"][0]) == result for other in others) if others else None,
        "faster": {
            other["name"]: other["cycles_per_second"] / row["cycles_per_second"]
            for other in others
            if row["name"] not in OURS
        },
    }


def busy_warnings(row: _Record) -> list[str]:
    """Return a warning if, by wall and user time, the runs of a row shared their cores with other processes."""
    repetitions = row.get("repetitions", [])
    threads = 2 if row["name"] == "compiled-2" else 1
    shares = [
        each["user_seconds"] / (threads * each["seconds"]) for each in repetitions if each["seconds"] >= _SHORTEST
    ]
    if not shares or median(shares) >= _LEAST_SHARE:
        return []
    return [
        f"{row['label']}, {row['workload']}: its {count_text(threads, 'thread')} had {median(shares):.0%} of "
        "the time of as many cores: another process took the rest, or they waited"
    ]


_HEAD = (
    *("", "graph", "cycles", "cycles/s", "kernel-cycles/s", "edges/s", "same"),
    *("2 threads is", "1 thread is", "memory", "build"),
)


def _factor(row: dict[str, Any], name: str) -> str:
    return f"{row['faster'][name]:.1f} x" if name in row["faster"] else ""


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "unavailable" in row:
        return (row["label"], *[""] * (len(_HEAD) - 1))
    return (
        row["label"],
        row["workload"],
        f"{row['cycles']:,}",
        f"{row['cycles_per_second']:,.0f}",
        f"{row['kernel_cycles_per_second']:,.0f}",
        f"{row['edges_per_second']:,.0f}",
        {True: "yes", False: "NO", None: ""}[row["same"]],
        _factor(row, "compiled-2"),
        _factor(row, "compiled-1"),
        f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB",
        f"{row['build_seconds']:.1f} s",
    )


def benchmark_markdown(document: dict[str, Any]) -> str:
    """Return the document of `run_benchmark` as a Markdown table, with the setting of the measurements."""
    machine, revision = document["machine"], document["revision"] or "not in a repository"
    lines = [
        f"configuration {document['config']}, memory {document['memory']}; {machine['processor']}, "
        f"{machine['cores']} cores; revision {revision}",
        "",
        markdown_table(_HEAD, [_cells(row) for row in document["rows"]]),
        "same: cycles of every level and memory contents are those of the compiled executor; "
        "2 threads is, 1 thread is: how many times as fast that runs on the same graph",
    ]
    lines += [f"{row['label']}: {row['unavailable']}" for row in document["rows"] if "unavailable" in row]
    lines += [f"warning: {warning}" for warning in document["warnings"]]
    return "\n".join(lines) + "\n"


THREADS = (2, 1)
"""Numbers of threads with which both revisions are measured."""


class _RevisionResult(TypedDict):
    levels: list[Count]
    cycles_per_second: Positive
    simulate_seconds: Positive
    peak_memory_bytes: Count


@dataclass(frozen=True, kw_only=True)
class RevisionRequest(Request):
    """A measurement of a search by one revision of the program.

    Parameters
    ----------
    revision : str
        Full hash of the revision.
    side : {"base", "head"}
        The revision's role in reports.
    tree : Path
        The folder of its checkout.
    file : Path
        File of the graph.
    workload : Workload
        The search.
    threads : int
        Most threads of the executor.
    repetition, repetitions : int
        Number of this repetition, from 1 on, and of all repetitions.
    """

    alone: ClassVar[bool] = True
    kind: ClassVar[Any] = _RevisionResult

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
        """Return the processor and a digest of the measuring code, as JSON values."""
        return {"processor": processor_name(), "sources": digest_beside(__file__)}

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Run the search with the command line of the checkout, which verifies it.

        Returns
        -------
        dict
            ``levels`` (cycles of each), ``cycles_per_second``, ``simulate_seconds`` and ``peak_memory_bytes``.

        Raises
        ------
        SimulationError
            The command failed.
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
    """Measure a repository's current revision and another one, alternating.

    Measurements stay in the store until all are complete.

    Parameters
    ----------
    measurements : Measurements
        Performs the measurements.
    root : Path
        The repository's folder; files are written to its ``build``.
    base : str
        The other revision.
    workload : Workload
        The search to measure.
    repetitions : int
        Number of repetitions.

    Returns
    -------
    dict
        A JSON document: the setting, both revisions, and for each number of threads a row in ``rows`` with the fastest
        repetitions, their ratio and whether the cycles are equal.

    Raises
    ------
    InputError
        There is no repository or no such revision, or the repository has uncommitted changes.
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

        # The first measurement of a checkout builds its executor.
        building = [request(side, 1, 0) for side in revisions]
        wanted = [
            request(side, threads, repetition)
            for repetition in range(1, repetitions + 1)
            for threads in THREADS
            for side in revisions
        ]
        results = measurements.measure([*building, *wanted])
    rows = [
        _revision_row(
            threads,
            {
                side: [results[each] for each in wanted if (each.side, each.threads) == (side, threads)]
                for side in revisions
            },
        )
        for threads in THREADS
    ]
    document = {
        **describe_environment(),
        "config": workload.config,
        "memory": workload.memory,
        "graph": workload.graph_text,
        "revisions": revisions,
        "rows": rows,
    }
    measurements.forget([*building, *wanted])
    return document


def _git(root: Path, *arguments: str) -> str:
    """Run git in a repository and return its output.

    Raises
    ------
    InputError
        The command failed.
    """
    try:
        result = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputError(f"git: {error.strerror}") from None
    if result.returncode:
        raise InputError(f"git {arguments[0]} failed: {result.stderr.strip()}", path=root)
    return result.stdout.strip()


def _check_repository(root: Path, base: str) -> str:
    """Return the full hash of a revision, and refuse a repository with uncommitted changes."""
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
    """Check a revision out below a folder, and remove both at the end of the block, even if it is interrupted."""
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
    """Return the command line of a checkout's program, by the entry point in its own ``pyproject.toml``."""
    module, _, function = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"][
        "cyscc"
    ].partition(":")
    return [sys.executable, "-P", "-c", f"import sys; from {module} import {function}; sys.exit({function}())"]


def _revision_row(threads: int, found: dict[str, list[_Record]]) -> _Record:
    # Other work on the computer can only slow a run: the fastest ones say most about the program.
    speeds = {side: max(each["cycles_per_second"] for each in runs) for side, runs in found.items()}
    cycles = [each["levels"] for runs in found.values() for each in runs]
    return {
        "threads": threads,
        **speeds,
        "ratio": speeds["head"] / speeds["base"],
        "same": all(levels == cycles[0] for levels in cycles),
        "repetitions": found,
    }


def comparison_markdown(document: _Record) -> str:
    """Return the document of `compare_revisions` as a Markdown table."""
    machine, revisions = document["machine"], document["revisions"]
    head = ("", "base, cycles/s", "this, cycles/s", "ratio", "same cycles")
    rows = [
        (
            count_text(row["threads"], "thread"),
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
