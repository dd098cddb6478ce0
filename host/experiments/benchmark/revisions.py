"""Comparison of two revisions, and of ways to run this one: both sides in turn, by slices of the same search."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, ClassVar, TypedDict

import numpy as np
import numpy.typing as npt

from cyscc.host.experiments.benchmark import sliced
from cyscc.host.experiments.benchmark.search import Preset
from cyscc.host.experiments.measuring.environment import describe_environment
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.measurements import Count, Measured, Measurements, Positive, Request
from cyscc.host.graph.formats import write_graph
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import markdown_table
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.sources import digest_beside
from cyscc.sim.errors import SimulationError
from cyscc.sim.processors import available_cores, processor

__all__ = ["COMPARISONS", "Comparison", "Side", "compare_revisions", "comparison_markdown", "estimate"]

_Record = dict[str, Any]
_Times = list[list[float]]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of two things that are compared.

    Parameters
    ----------
    label : str
        Its name in reports.
    revision : {"base", "head"}
        The tree that is run.
    options : tuple of str
        Options of the command.
    compiler : str
        The C++ compiler, if not the default.
    processes : int
        Number of processes that run side by side, each the whole search.
    """

    label: str
    revision: str = "head"
    options: tuple[str, ...] = ()
    compiler: str = ""
    processes: int = 1


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two sides on a graph.

    Parameters
    ----------
    title : str
        What is compared, in reports.
    graph : str
        ``random`` or ``rmat``, of the preset's size; otherwise the name of a file in `GRAPHS`.
    sides : tuple of Side
        What is compared with, and what is.
    """

    title: str
    graph: str
    sides: tuple[Side, Side]

    @property
    def whole(self) -> bool:
        """Whether whole commands are timed, which find components, instead of slices of a search."""
        return self.graph not in _GENERATED

    @property
    def alone(self) -> bool:
        """Whether one thread simulates on both sides: then its processor time counts, otherwise real time."""
        return not self.whole and all(side.processes == 1 and side.options[:2] == _ONE for side in self.sides)


GRAPHS = "CYSCC_GRAPHS"
"""Environment variable with the folder of real graphs."""

_GENERATED = ("random", "rmat")
_ONE, _TWO = ("--threads", "1"), ("--threads", "2")


def _revisions(title: str, graph: str, options: tuple[str, ...] = ()) -> Comparison:
    sides = Side(label="base", revision="base", options=options), Side(label="this", options=options)
    return Comparison(title=title, graph=graph, sides=sides)


COMPARISONS = {
    "random-1": _revisions("random, 1 thread", "random", _ONE),
    "random-2": _revisions("random, 2 threads", "random", _TWO),
    "rmat-1": _revisions("R-MAT, 1 thread", "rmat", _ONE),
    "rmat-2": _revisions("R-MAT, 2 threads", "rmat", _TWO),
    "wiki-Vote": _revisions("wiki-Vote, whole command", "wiki-Vote.txt.gz"),
    "soc-Epinions1": _revisions("soc-Epinions1, whole command", "soc-Epinions1.txt.gz"),
    "record": Comparison(
        title="this with --record, and without",
        graph="random",
        sides=(Side(label="recorded", options=(*_ONE, "--record", "{record}")), Side(label="plain", options=_ONE)),
    ),
    "avx2": Comparison(
        title="this with AVX-512, and with AVX2",
        graph="random",
        sides=(Side(label="AVX-512", options=_ONE), Side(label="AVX2", options=_ONE, compiler="g++ -mno-avx512f")),
    ),
    "pair": Comparison(
        title="two runs of this side by side, and one of 2 threads",
        graph="random",
        sides=(Side(label="two runs", options=_ONE, processes=2), Side(label="2 threads", options=_TWO)),
    ),
}
"""Comparisons by name."""

_CYCLES = 10_000
"""Cycles of a slice."""

_FEWEST, _NARROW, _LONGEST = 5, 0.01, 60.0
"""A comparison has at least so many passes; it ends when its interval is narrower than that part of the ratio, or after
so many seconds."""

_PAUSE = 0.002
"""Seconds after which the threads of a side sleep that waits for its turn."""


class _Process:
    """A command that runs by slices.

    Parameters
    ----------
    tree : Path
        The program's folder.
    arguments : sequence of str
        Arguments of the command.
    compiler : str
        The C++ compiler, if not the default.
    cycles : int
        Cycles of a slice; 0 to run without a break.
    """

    def __init__(self, tree: Path, arguments: Sequence[str], *, compiler: str, cycles: int) -> None:
        entry = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["cyscc"]
        orders, self._orders = os.pipe()
        heard, reports = os.pipe()
        self._reports = os.fdopen(heard)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", sliced.__file__, entry, str(orders), str(reports), str(cycles), *arguments],
                cwd=tree,
                env={**os.environ, "PYTHONPATH": str(tree)} | ({"CXX": compiler} if compiler else {}),
                pass_fds=(orders, reports),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        finally:
            os.close(orders)
            os.close(reports)

    def wait(self) -> list[float] | None:
        """Return what the last slice took, once the next one can begin; None once the search has ended."""
        line = self._reports.readline()
        return [float(value) for value in line.split()] if line else None

    def begin(self) -> None:
        """Let the next slice begin."""
        os.write(self._orders, b"+")

    def end(self) -> None:
        """Wait for the end of the command.

        Raises
        ------
        SimulationError
            It failed.
        """
        _, errors = self.process.communicate()
        if self.process.returncode:
            line, _, rest = errors.strip().partition("\n")
            raise SimulationError(line or f"ended with status {self.process.returncode}", rest)

    def close(self) -> None:
        """Kill the command if it still runs."""
        os.close(self._orders)
        self._reports.close()
        with self.process:
            self.process.kill()


class _ComparisonResult(TypedDict):
    times: list[list[list[Positive]]]
    cycles: Count
    same: bool
    peak_memory_bytes: list[Count]


@dataclass(frozen=True, kw_only=True)
class ComparisonRequest(Request):
    """Measurement of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What is compared.
    revisions : tuple of (str, str)
        Full hashes of the base and of the head.
    config, memory : str
        Configuration and memory profile.
    size : tuple of (int, int)
        Vertices and degree of generated graphs.
    passes : int or None
        Number of passes; by default until the ratio is known.
    trees : dict of str to Path
        Folders of both revisions.
    folder : Path
        Folder of the graphs, and for results.
    """

    alone: ClassVar[bool] = True
    kind: ClassVar[Any] = _ComparisonResult

    comparison: Comparison
    revisions: tuple[str, str]
    config: str
    memory: str
    size: tuple[int, int]
    passes: int | None
    trees: Mapping[str, Path] = field(compare=False)
    folder: Path = field(compare=False)

    @property
    def label(self) -> str:
        """Name in messages."""
        return self.comparison.title

    def setting(self) -> dict[str, Any]:
        """Return the processor and a digest of the measuring code, as JSON values."""
        return {"processor": processor_name(), "sources": digest_beside(__file__)}

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Run both sides in turn, pass after pass; the commands verify their results.

        Returns
        -------
        dict
            ``times``: seconds by pass, side and slice. ``cycles``: those of a run; ``same``: whether all runs had them,
            level by level. ``peak_memory_bytes`` of a process of each side.

        Raises
        ------
        SimulationError
            A command failed, or cannot be run by slices.
        """
        times: list[_Times] = []
        outcomes: list[_Record] = []
        # A first command may build, and read files for the first time.
        spare = 1 if self.comparison.whole else 0
        began = perf_counter()
        while True:
            pass_ = self._pass_of_commands if self.comparison.whole else self._pass_of_slices
            times.append(pass_(len(times)))
            outcomes += [self._outcome(place) for place in self._results()]
            counted = times[spare:]
            if self.passes is not None:
                if len(counted) >= self.passes:
                    break
            elif len(counted) >= _FEWEST:
                ratio, low, high = estimate(counted)
                if high - low < _NARROW * ratio or perf_counter() - began > _LONGEST:
                    break
        return {
            "times": counted,
            "cycles": outcomes[0]["cycles"],
            "same": all(each["levels"] == outcomes[0]["levels"] for each in outcomes),
            "peak_memory_bytes": [max(each["peak"] for each in outcomes if each["side"] == side) for side in range(2)],
        }

    def _pass_of_slices(self, number: int) -> _Times:
        """Run both sides once, in turn."""
        times: _Times = [[], []]
        shutil.rmtree(self._record, ignore_errors=True)
        with ExitStack() as closing:
            sides: list[list[_Process]] = [[], []]
            # In the first pass one after the other, since each may have to build.
            for side, what in enumerate(self._sides):
                for n in range(what.processes):
                    sides[side].append(self._start(side, n, closing))
                    if not number:
                        self._await(sides[side][n])
            for process in (process for side in sides for process in side if number):
                self._await(process)
            self._pin(sides)
            running = [True, True]
            while any(running):
                # Which side begins changes from slice to slice.
                for side in (0, 1) if len(times[0]) % 2 else (1, 0):
                    if running[side]:
                        seconds = _slice(sides[side], own=self.comparison.alone)
                        running[side] = seconds is not None
                        times[side] += [seconds] if seconds is not None else []
                        if not self.comparison.alone:
                            sleep(_PAUSE)
            for process in (process for side in sides for process in side):
                process.end()
        fewest = min(map(len, times))
        return [each[:fewest] for each in times]

    @staticmethod
    def _await(process: _Process) -> None:
        """Wait until a command is ready for its first slice."""
        if process.wait() is None:
            process.end()
            raise SimulationError("the command runs no slice that could be timed")

    def _pass_of_commands(self, number: int) -> _Times:
        """Run the command of both sides once, one after the other."""
        times: _Times = [[], []]
        for side in (0, 1) if number % 2 else (1, 0):
            with ExitStack() as closing:
                began = perf_counter()
                self._start(side, 0, closing).end()
                times[side].append(perf_counter() - began)
        return times

    @property
    def _sides(self) -> tuple[Side, Side]:
        return self.comparison.sides

    def _start(self, side: int, number: int, closing: ExitStack) -> _Process:
        """Start a command of a side."""
        what, comparison = self._sides[side], self.comparison
        if comparison.whole:
            command = ["scc", os.path.join(os.environ.get(GRAPHS, ""), comparison.graph)]
        else:
            command = ["bfs", str(self.folder / f"{comparison.graph}.npz"), "--source", "0"]
        options = [option.format(record=self._record) for option in what.options]
        output = ["--quiet", "--json", str(self._result(side, number))]
        process = _Process(
            self.trees[what.revision],
            [*command, "--config", self.config, "--memory", self.memory, *options, *output],
            compiler=what.compiler,
            cycles=0 if comparison.whole else _CYCLES,
        )
        closing.callback(process.close)
        return process

    def _pin(self, sides: list[list[_Process]]) -> None:
        """Keep single threads on cores: both sides on one, or processes side by side on one each."""
        cores = sorted(os.sched_getaffinity(0))
        for side, processes in zip(self._sides, sides, strict=True):
            if side.options[:2] == _ONE:
                for number, process in enumerate(processes):
                    os.sched_setaffinity(process.process.pid, {cores[number % len(cores)]})

    @property
    def _record(self) -> Path:
        return self.folder / "record"

    def _result(self, side: int, number: int) -> Path:
        return self.folder / f"result-{side}-{number}.json"

    def _results(self) -> list[tuple[int, Path]]:
        return [(side, self._result(side, n)) for side in range(2) for n in range(self._sides[side].processes)]

    @staticmethod
    def _outcome(place: tuple[int, Path]) -> _Record:
        side, path = place
        document = json.loads(path.read_text())
        levels = [level["cycles"] for level in document.get("levels", [])] or [document["cycles"]["total"]]
        return {
            "side": side,
            "levels": levels,
            "cycles": sum(levels),
            "peak": document["wall"]["peak_memory_bytes"],
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        ratio, low, high = estimate(result["times"])
        return f"{ratio:.3f} ({low:.3f} to {high:.3f}), {len(result['times'])} passes"


def _slice(processes: list[_Process], *, own: bool) -> float | None:
    """Let all processes of a side run a slice; return its seconds, or None if the search has ended."""
    for process in processes:
        process.begin()
    lines = [process.wait() for process in processes]
    found = [line for line in lines if line is not None]
    if len(found) < len(lines):
        return None
    speed = sum(cycles / (thread if own else wall) for cycles, wall, thread in found)
    return found[0][0] / speed


def estimate(times: Sequence[_Times]) -> tuple[float, float, float]:
    """Return how many times as fast the second side is as the first, and the 95 % interval of this ratio.

    A slice takes the median of its times in all passes; the ratio is that of the sums over the slices. The interval
    comes from resampling the passes.

    Parameters
    ----------
    times : sequence
        Seconds by pass, side and slice.
    """
    fewest = min(len(side) for each in times for side in each)
    seconds: npt.NDArray[np.float64] = np.array([[side[:fewest] for side in each] for each in times])
    picks = np.random.default_rng(1).integers(len(seconds), size=(_RESAMPLED, len(seconds)))
    sums = np.median(seconds[picks], axis=1).sum(axis=2)
    low, high = np.quantile(sums[:, 0] / sums[:, 1], (0.025, 0.975))
    first, second = np.median(seconds, axis=0).sum(axis=1)
    return float(first / second), float(low), float(high)


_RESAMPLED = 500


def compare_revisions(
    measurements: Measurements,
    root: Path,
    base: str,
    *,
    preset: Preset,
    comparisons: Sequence[str] = tuple(COMPARISONS),
    passes: int | None = None,
) -> _Record:
    """Compare a repository's current revision with another one, and with itself in other settings.

    Measurements stay in the store until all are complete.

    Parameters
    ----------
    measurements : Measurements
        Performs the measurements.
    root : Path
        The repository's folder; files are written to its ``build``.
    base : str
        The other revision.
    preset : Preset
        Configuration, memory, and the size of the graph.
    comparisons : sequence of str
        Names of comparisons, of `COMPARISONS`.
    passes : int, optional
        Number of passes; by default until the ratio is known.

    Returns
    -------
    dict
        A JSON document: the setting, both revisions, and for each comparison a row in ``rows`` with both speeds, their
        ratio with its interval, and whether the cycles are equal; or with why it is unavailable.

    Raises
    ------
    InputError
        There is no repository or no such revision, or the repository has uncommitted changes.
    SimulationError
        A measurement failed.
    """
    revisions = _check_repository(root, base), _git(root, "rev-parse", "HEAD")
    folder = root / "build" / "bench-compare"
    workload = preset.workload("compiled-2")
    lacking = {name: _lacking(COMPARISONS[name]) for name in comparisons}
    with _checked_out(root, revisions[0], folder) as tree:
        for kind in {COMPARISONS[name].graph for name in comparisons}.intersection(_GENERATED):
            graph = GraphSpec(kind=kind, degree=workload.degree, vertices=workload.vertices, seed=1)
            write_graph(graph.generate(), folder / f"{kind}.npz")
        wanted = {
            name: ComparisonRequest(
                comparison=COMPARISONS[name],
                revisions=revisions,
                config=preset.config,
                memory=preset.memory,
                size=(workload.vertices, workload.degree),
                passes=passes,
                trees={"base": tree, "head": root},
                folder=folder,
            )
            for name in comparisons
            if not lacking[name]
        }
        results = measurements.measure(wanted.values())
    document = {
        **describe_environment(),
        "config": preset.config,
        "memory": preset.memory,
        "graph": workload.graph_text,
        "revisions": {"base": revisions[0], "head": revisions[1]},
        "rows": [
            {"name": name, "title": COMPARISONS[name].title, "unavailable": lacking[name]}
            if lacking[name]
            else _row(name, results[wanted[name]])
            for name in comparisons
        ],
    }
    measurements.forget(wanted.values())
    return document


def _lacking(comparison: Comparison) -> str:
    """Return what a comparison lacks here, or nothing."""
    if comparison.whole and not Path(os.environ.get(GRAPHS, ""), comparison.graph).is_file():
        return f"{comparison.graph} is not in the folder that {GRAPHS} names"
    if any(side.compiler for side in comparison.sides) and "avx512f" not in processor().split():
        return "the processor has no AVX-512"
    two = any(side.processes > 1 or side.options[:2] == _TWO for side in comparison.sides)
    return "there is only one core" if two and available_cores() < 2 else ""


def _row(name: str, result: Measured) -> _Record:
    comparison, times = COMPARISONS[name], np.array(result["times"])
    ratio, low, high = estimate(result["times"])
    cycles = result["cycles"] if comparison.whole else _CYCLES * times.shape[2]
    return {
        "name": name,
        "title": comparison.title,
        "sides": [
            {"label": side.label, "cycles_per_second": cycles / seconds, "peak_memory_bytes": peak}
            for side, seconds, peak in zip(
                comparison.sides,
                np.median(times, axis=0).sum(axis=1).tolist(),
                result["peak_memory_bytes"],
                strict=True,
            )
        ],
        "ratio": ratio,
        "interval": [low, high],
        "same": result["same"],
        "passes": len(times),
        "times": result["times"],
    }


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


_HEAD = ("", "sides", "cycles/s", "ratio", "95 %", "memory", "same cycles")


def _cells(row: _Record) -> tuple[str, ...]:
    if "unavailable" in row:
        return (row["title"], *[""] * (len(_HEAD) - 1))
    first, second = row["sides"]
    low, high = row["interval"]
    return (
        row["title"],
        f"{first['label']}, {second['label']}",
        f"{first['cycles_per_second']:,.0f}, {second['cycles_per_second']:,.0f}",
        f"{row['ratio']:.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{second['peak_memory_bytes'] / first['peak_memory_bytes']:.2f}",
        "yes" if row["same"] else "NO",
    )


def comparison_markdown(document: _Record) -> str:
    """Return the document of `compare_revisions` as a Markdown table."""
    machine, revisions = document["machine"], document["revisions"]
    unavailable = [f"{row['title']}: {row['unavailable']}" for row in document["rows"] if "unavailable" in row]
    return (
        f"configuration {document['config']}, memory {document['memory']}, graphs {document['graph']}; "
        f"{machine['processor']}, {machine['cores']} cores\n\n"
        f"- base: {revisions['base']}\n- this: {revisions['head']}\n\n"
        f"{markdown_table(_HEAD, [_cells(row) for row in document['rows']])}\n"
        "ratio: how many times as fast the second side is as the first, with its 95 % interval; memory: the second "
        "side's peak as part of the first's\n" + "".join(f"{line}\n" for line in unavailable)
    )
