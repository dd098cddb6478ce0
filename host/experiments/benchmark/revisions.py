"""Comparison of two revisions, and of ways to run this one: commands of both sides in turns."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, ClassVar, TypedDict

import msgspec

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.benchmark.search import Preset, Workload, describe_environment
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.plan.request import Amount, Count, Measured, Positive, Request
from cyscc.host.experiments.sheets import sheet_of
from cyscc.host.graph.formats import write_graph
from cyscc.host.output.errors import InputError
from cyscc.host.runs.environment import processor_name
from cyscc.host.runs.sources import digest_beside
from cyscc.sim.errors import SimulationError
from cyscc.sim.processors import available_cores, processor

_Record = dict[str, Any]


GRAPHS = "CYSCC_GRAPHS"
"""Environment variable with the folder of real graphs."""

_BASE = "base"
_GENERATED = ("random", "rmat")


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of two things that are compared.

    Parameters
    ----------
    label : str
        Its name in reports; ``base`` is the other revision, everything else this one.
    options : str
        Options of the command; ``{scratch}`` stands for a folder that is new for each run.
    compiler : str
        The C++ compiler, if not the default.
    runs : int
        Number of runs side by side.
    """

    label: str
    options: str = ""
    compiler: str = ""
    runs: int = 1


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A comparison of two ways to run a command on the same graph.

    Parameters
    ----------
    graph : str
        ``random`` or ``rmat``, of the preset's size, for a search; otherwise the name of a file in `GRAPHS`, whose
        components are found.
    sides : tuple of (Side, Side)
        The one that is compared with, and the one that is compared.
    next : bool
        Whether they simulate the next machine, of the preset.
    built : bool
        Whether each run builds the machine with nothing in the cache, and the time of that counts.
    """

    graph: str
    sides: tuple[Side, Side]
    next: bool = False
    built: bool = False

    def lacking(self) -> str:
        """Return what it lacks here, or nothing."""
        if self.graph not in _GENERATED and not Path(os.environ.get(GRAPHS, ""), self.graph).is_file():
            return f"{self.graph} is not in the folder that {GRAPHS} names"
        if any(side.compiler for side in self.sides) and "avx512f" not in processor().split():
            return "the processor has no AVX-512"
        two = any(side.runs > 1 or side.options.startswith("--threads 2") for side in self.sides)
        return "there is only one core" if two and available_cores() < 2 else ""


COMPARISONS = msgspec.toml.decode(Path(__file__).with_name("comparisons.toml").read_bytes(), type=dict[str, Comparison])
"""Comparisons by name."""


_MOST_OTHERS = 0.1
"""Most cores that other processes may use on average during a turn that is not measured again."""

_ATTEMPTS = 3
"""Most times that a turn is measured."""


class _Run(TypedDict):
    seconds: Positive
    others: Amount
    cycles: Count
    peak_memory_bytes: Count


class _Turn(TypedDict):
    sides: tuple[_Run, _Run]


@dataclass(frozen=True, kw_only=True)
class TurnRequest(Request):
    """A run of each side of a comparison, one after the other.

    Parameters
    ----------
    name : str
        Name of the comparison.
    comparison : Comparison
        The comparison.
    turn, turns : int
        Number of this turn, from 1 on, and of all turns.
    revisions : tuple of (str, str)
        Full hashes of the base and of the head.
    workload : Workload
        Configuration, memory profile, and size of generated graphs.
    root : Path
        The repository's folder, with the head.
    """

    alone: ClassVar[bool] = True
    kind: ClassVar[Any] = _Turn

    name: str
    comparison: Comparison
    turn: int
    turns: int
    revisions: tuple[str, str]
    workload: Workload
    root: Path = field(compare=False)

    @property
    def label(self) -> str:
        """Name in messages."""
        return self.name

    def setting(self) -> dict[str, Any]:
        """Return the processor and a digest of the measuring code, as JSON values."""
        return {"processor": processor_name(), "sources": digest_beside(__file__)}

    def measure(self, graph: None, *, verify: bool) -> Measured:
        """Run both sides; the commands verify their results.

        They run again if another process used a core meanwhile, and those runs are kept during which the others used
        least.

        Returns
        -------
        dict
            Of each of ``sides`` the ``seconds`` of the simulation of a run, or of the build, its ``cycles`` and
            ``peak_memory_bytes``, and how many cores ``others`` used.

        Raises
        ------
        SimulationError
            A command failed.
        """
        sides = self.comparison.sides
        # Which side begins changes from turn to turn.
        order = 1 if self.turn % 2 else -1
        turns: list[list[_Run]] = []
        while len(turns) < _ATTEMPTS:
            turns.append([self._run(side) for side in sides[::order]][::order])
            if _others(turns[-1]) <= _MOST_OTHERS:
                break
        return {"sides": min(turns, key=_others)}

    def _run(self, side: Side) -> _Run:
        """Run the command of a side."""
        graph, folder = self.comparison.graph, _folder(self.root)
        tree = folder / _BASE if side.label == _BASE else self.root
        entry = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["cyscc"]
        module, _, function = entry.partition(":")
        if graph in _GENERATED:
            command = ["bfs", str(folder / f"{graph}.npz"), "--source", "0"]
        else:
            command = ["scc", os.path.join(os.environ.get(GRAPHS, ""), graph)]
        begin = [sys.executable, "-P", "-c", f"from {module} import {function}; {function}()", *command]
        machine = ["--config", self.workload.config, "--memory", self.workload.memory]
        built = self.comparison.built
        with TemporaryDirectory(dir=folder) as scratch:
            further = {"CXX": side.compiler} if side.compiler else {}
            if built:
                further["CYSCC_CACHE"] = os.path.join(scratch, "cache")
            began, before = perf_counter(), other_seconds()
            options = [option.format(scratch=scratch) for option in side.options.split()]
            running = [
                subprocess.Popen(
                    [*begin, *machine, *options, "--quiet", "--json", "-"],
                    env={**os.environ, "PYTHONPATH": str(tree)} | further,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                for _ in range(side.runs)
            ]
            documents = [_document(process) for process in running]
            others = max(0.0, (other_seconds() - before) / (perf_counter() - began))
        counted = ("build",) if built else ("simulate", "record")
        return {
            "seconds": max(sum(each["wall"][name] for name in counted) for each in documents) / side.runs,
            "others": others,
            "cycles": documents[0]["cycles"]["total"],
            "peak_memory_bytes": max(each["wall"]["peak_memory_bytes"] for each in documents),
        }

    def summary(self, result: Mapping[str, Any]) -> str:
        """Return a result in a few words."""
        one, other = result["sides"]
        return f"{self.turn} of {self.turns}, {one['seconds']:.3f} s and {other['seconds']:.3f} s"


def _others(runs: Iterable[_Run]) -> float:
    return max(run["others"] for run in runs)


def other_seconds() -> float:
    """Return the seconds for which anything but this process and its ended children has used a core, from some time on.

    Also what the machine below took from a virtual one counts. 0 where the system does not tell.
    """
    try:
        user, nice, system, _, _, *rest = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    except (OSError, ValueError):
        return 0.0
    own = sum(os.times()[:4])
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK") - own


def _document(process: "subprocess.Popen[str]") -> _Record:
    """Return what a command has written.

    Raises
    ------
    SimulationError
        It failed.
    """
    output, errors = process.communicate()
    if process.returncode:
        line, _, rest = errors.strip().partition("\n")
        raise SimulationError(line or f"ended with status {process.returncode}", rest)
    document: _Record = json.loads(output)
    return document


def compare_revisions(
    measurements: Plan,
    root: Path,
    base: str,
    *,
    preset: Preset,
    comparisons: Sequence[str] = tuple(COMPARISONS),
    turns: int | None = None,
) -> _Record:
    """Compare a repository's current revision with another one, and with itself in other settings.

    Plan stay in the store until all are complete.

    Parameters
    ----------
    measurements : Plan
        Performs the measurements.
    root : Path
        The repository's folder; files are written to its ``build``.
    base : str
        The other revision.
    preset : Preset
        Configuration, memory, and the size of the graphs.
    comparisons : sequence of str
        Names of comparisons, of `COMPARISONS`.
    turns : int, optional
        Number of runs of each side; by default that of the preset.

    Returns
    -------
    dict
        A JSON document: the setting, both revisions, and for each comparison a row in ``rows`` with the least time of
        both sides, their ratio, whether the cycles are equal, and how many cores other processes used at most; or with
        why it is unavailable.

    Raises
    ------
    InputError
        There is no repository or no such revision, or the repository has uncommitted changes.
    SimulationError
        A measurement failed.
    """
    revisions = _check_repository(root, base), _git(root, "rev-parse", "HEAD")
    workload = preset.workload("revisions")
    turns = turns or preset.repetitions["revisions"]
    lacking = {name: COMPARISONS[name].lacking() for name in comparisons}
    with _checked_out(root, revisions[0]) as folder:
        for kind in {COMPARISONS[name].graph for name in comparisons}.intersection(_GENERATED):
            graph = GraphSpec(kind=kind, degree=workload.degree, vertices=workload.vertices, seed=1)
            write_graph(graph.generate(), folder / f"{kind}.npz")
        wanted = {
            name: [
                TurnRequest(
                    name=name,
                    comparison=COMPARISONS[name],
                    turn=turn,
                    turns=turns,
                    revisions=revisions,
                    workload=replace(workload, config=preset.next_config) if COMPARISONS[name].next else workload,
                    root=root,
                )
                for turn in range(1, turns + 1)
            ]
            for name in comparisons
            if not lacking[name]
        }
        requests = [request for each in wanted.values() for request in each]
        results = measurements.measure(requests)
    rows = [
        {"name": name, "unavailable": lacking[name]}
        if lacking[name]
        else _row(name, [results[request]["sides"] for request in wanted[name]])
        for name in comparisons
    ]
    document = {
        **describe_environment(),
        "config": preset.config,
        "memory": preset.memory,
        "graph": workload.graph_text,
        "revisions": {"base": revisions[0], "head": revisions[1]},
        "rows": rows,
    }
    measurements.forget(requests)
    return document


def _row(name: str, turns: list[tuple[_Run, _Run]]) -> _Record:
    """Return the row of a comparison from the runs of both sides by turn."""
    sides = [
        {
            "label": side.label,
            "seconds": min(run["seconds"] for run in runs),
            "peak_memory_bytes": max(run["peak_memory_bytes"] for run in runs),
            "runs": runs,
        }
        for side, runs in zip(COMPARISONS[name].sides, zip(*turns, strict=True), strict=True)
    ]
    return {
        "name": name,
        "sides": sides,
        "cycles": turns[0][0]["cycles"],
        "ratio": sides[0]["seconds"] / sides[1]["seconds"],
        "same": len({run["cycles"] for turn in turns for run in turn}) == 1,
        "others": max(map(_others, turns)),
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


def _folder(root: Path) -> Path:
    """Return the folder of the base and of the graphs."""
    return root / "build" / "bench-compare"


@contextmanager
def _checked_out(root: Path, revision: str) -> Iterator[Path]:
    """Check a revision out below a folder, and remove both at the end of the block, even if it is interrupted."""
    folder = _folder(root)
    try:
        _remove(root, folder)
        folder.mkdir(parents=True)
        _git(root, "worktree", "add", "--detach", str(folder / _BASE), revision)
        yield folder
    finally:
        _remove(root, folder)


def _remove(root: Path, folder: Path) -> None:
    rmtree(folder, ignore_errors=True)
    _git(root, "worktree", "prune")


def _shown(row: _Record) -> _Record:
    """Return a row of the table."""
    if "unavailable" in row:
        return {"name": row["name"]}
    one, other = row["sides"]
    built = COMPARISONS[row["name"]].built
    speeds = [
        f"{side['seconds']:.1f} s" if built else f"{row['cycles'] / side['seconds']:,.0f}" for side in row["sides"]
    ]
    return {
        "name": row["name"],
        "labels": f"{one['label']}, {other['label']}",
        "speeds": ", ".join(speeds),
        "ratio": row["ratio"],
        "memory": other["peak_memory_bytes"] / one["peak_memory_bytes"],
        "same": "yes" if row["same"] else "NO",
        "others": f"used {row['others']:.1f} cores" if row["others"] > _MOST_OTHERS else "",
    }


def comparison_answer(document: _Record) -> Answer:
    """Return the document of `compare_revisions` as an answer."""
    said = [f"{row['name']}: {row['unavailable']}" for row in document["rows"] if "unavailable" in row]
    rows = {"rows": map(_shown, document["rows"])}
    return sheet_of("bench-compare").answer(document, rows, said=said, fields=document)
