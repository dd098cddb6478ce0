"""Random graphs on random machines and memories: whole runs of the command line, made in two ways.

Each result is compared with a plain reference, and what the two ways leave with each other: labels or levels, cycles,
counters, causes, statistics of the memory; of a run that is resumed the rows of its record, too. A run ends

========== ===============================================================================================
right      with status 0 and the right result
overflow   with status 3: its queues overflow again and again; copies of repeated edges have filled them
long       with status 3 at the cycle limit; copies again
========== ===============================================================================================

and in no other way. Without repeated edges, where the host drops them, and where the machine remembers all ids of the
graph, only the first is as it must be.
"""

import json
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from cyscc.host.record.reader import Record
from cyscc.sim.machine import Machine
from tests.fuzz.commands import STATUSES, Ended, run_cyscc
from tests.fuzz.search import Finding, Part
from tests.fuzz.setups import COMMON, Table, draw_memory, table_text
from tests.fuzz.shapes import Edges, component_lines, draw_graph, graph_file, level_lines
from tests.record.checks import frames

_CYCLE_LIMIT = 3_000_000
_MOST_IN_PYTHON = 4000
"""Cycles of a run that Amaranth's simulator makes too: a few seconds."""

_WAYS = ("",) * 100 + ("threads",) * 100 + ("resumed",) * 10 + ("amaranth", "waves")
"""Ways of making a run a second time; those that take long are seldom taken."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run.

    Parameters
    ----------
    vertices, edges : int, Edges
        The graph.
    source : int or None
        Where a search begins; None to find components.
    machine, memory : Table
        Their files.
    slack : int or None
        Queue slack; None for the default.
    simplify : bool
        Whether repeated edges and self-loops are dropped.
    way : str
        How it is made a second time, if it is: with ``threads``, ``resumed`` after interrupts, by ``amaranth``, with
        ``waves``.
    every : float
        Cycles between two checkpoints of a run that is resumed, as a part of all its cycles.
    stops : list of float
        When that is interrupted, each of its processes once, likewise.
    """

    vertices: int
    edges: Edges
    source: int | None
    machine: Table
    memory: Table
    slack: int | None
    simplify: bool
    way: str
    every: float
    stops: list[float]

    @property
    def output(self) -> str:
        """The option that has the result written."""
        return "--labels" if self.source is None else "--levels"

    @property
    def copies(self) -> bool:
        """Whether the machine may push the same vertex any number of times."""
        repeated = len(set(self.edges)) < len(self.edges) and not self.simplify
        # As many ids are not forgotten within a level.
        known = 64 if self.machine["preset"] == "fast-test" else 0
        remembered = max(known, *(self.machine.get(name, 0) for name in ("remembered_ids", "visited_filter")))
        return repeated and remembered < self.vertices


def draw(chance: Random, *, new: Table | None = None) -> Run:
    """Draw a run; on a new machine, too, where there is one."""
    way = chance.choice(_WAYS)
    # Other machines would have to be built once more for waveforms, or take minutes in Python.
    machine = COMMON[0] if way in ("amaranth", "waves") else chance.choice([*COMMON, *([new] * 4 if new else [])])
    vertices, edges = draw_graph(chance, most=6 if way == "amaranth" else 200 if chance.randrange(50) == 23 else 64)
    searches = chance.randrange(5) > 2 or machine.get("bfs_only", False) or "bfs" in machine["preset"]
    return Run(
        vertices=vertices,
        edges=edges,
        source=chance.randrange(vertices) if searches else None,
        machine=machine,
        memory=draw_memory(chance),
        slack=chance.choice([None, 0, 1, 20, 200, 2000]),
        simplify=chance.randrange(5) == 4,
        way=way,
        every=0.01 + 0.15 * chance.random(),
        stops=sorted(chance.random() for _ in range(chance.randint(1, 3))),
    )


def prepare(run: Run, folder: Path) -> None:
    """Write the files of a run."""
    (folder / "graph.gr").write_text(graph_file(run.vertices, run.edges))
    (folder / "machine.toml").write_text(table_text(run.machine))
    (folder / "memory.toml").write_text(table_text(run.memory))


def arguments_of(run: Run, folder: Path, *, limit: int = _CYCLE_LIMIT) -> list[str]:
    """Return the arguments of a run, but for outputs and the number of threads."""
    what = ["scc"] if run.source is None else ["bfs", "--source", str(run.source + 1)]
    slack = [] if run.slack is None else ["--queue-slack", str(run.slack)]
    files = ["--config", str(folder / "machine.toml"), "--memory", str(folder / "memory.toml")]
    simplify = ["--simplify"] * run.simplify
    return [*what, str(folder / "graph.gr"), *files, *slack, *simplify, "--cycle-limit", str(limit)]


def expected_of(run: Run) -> str:
    """Return what a run must write."""
    if run.source is None:
        return component_lines(run.vertices, run.edges)
    return level_lines(run.vertices, run.edges, run.source)


class _Maker:
    """Makes a run in its ways, and counts how the processes would have ended."""

    def __init__(self, run: Run, folder: Path) -> None:
        self._run = run
        self._folder = folder
        self._document = folder / "result.json"
        self._outputs = ["--quiet", run.output, "-", "--json"]
        self._outputs.append(str(self._document))
        self._arguments = arguments_of(run, folder)
        self.counts: Counter[str] = Counter()

    def make(self, *options: str) -> tuple[Ended, dict[str, Any]]:
        """Make it; return how it ended, and its document."""
        return self._cyscc([*self._arguments, *options])

    def resumed(self, cycles: int) -> tuple[Ended, dict[str, Any]]:
        """Perform the run with interrupts; the parameter is its length in cycles without them."""
        kept, record = self._folder / "kept", self._folder / "record"
        shutil.rmtree(record, ignore_errors=True)
        every = max(1, int(self._run.every * cycles))
        recorded = ["--record-interval", str(max(16, every // 3)), "--record"]
        begun = [*self._arguments, "--checkpoint", str(kept), "--checkpoint-every", f"{every}cycles", *recorded]
        begun.append(str(record))
        again = [self._arguments[0], "--resume", str(kept)]
        for number, stop in enumerate([*self._run.stops, None]):
            resumed = (kept / "checkpoint.json").exists()
            self.counts["resumed"] += resumed
            arguments = [*(again if resumed else begun), "--threads", str(number % 2 + 1)]
            ended, document = self._cyscc(arguments, stop=None if stop is None else int(stop * cycles))
            if ended.status != 130:
                break
        if ended.status == 0 and kept.exists():
            return ended._replace(err=f"{kept} is left"), document
        if ended.status == 0 and self.counts["resumed"]:
            whole = self._folder / "whole"
            shutil.rmtree(whole, ignore_errors=True)
            self._cyscc([*self._arguments, *recorded, str(whole)])
            rows, theirs = frames(Record(record)), frames(Record(whole))
            other = [name for name in rows if not rows[name].equals(theirs[name])]
            if other:
                return ended._replace(err=f"its record has other {', '.join(other)}"), document
        return ended, document

    def _cyscc(self, arguments: list[str], *, stop: int | None = None) -> tuple[Ended, dict[str, Any]]:
        def interrupt() -> None:
            raise KeyboardInterrupt

        def arm(machine: Machine) -> None:
            if stop is not None:
                machine.schedule(stop, interrupt)

        self._document.unlink(missing_ok=True)
        ended = run_cyscc(*arguments, *self._outputs, on_machine=arm)
        self.counts["runs"] += 1
        self.counts[f"status {ended.status}"] += 1
        return ended, json.loads(self._document.read_text()) if self._document.exists() else {}


def _unbalanced(document: dict[str, Any]) -> str:
    """Return what of a document's sums is wrong, or nothing."""
    statistics, sizes = document["statistics"], document["configuration"]
    cycles = statistics["cycles"]
    if cycles["total"] != sum(value for name, value in cycles.items() if name != "total"):
        return f"cycles do not add up: {cycles}"
    for kind, causes in statistics["causes"].items():
        kernels = sizes["engines"] * sizes[f"{kind}_kernels"]
        if sum(causes.values()) != kernels * cycles["instructions"]:
            return f"causes of {kind} kernels do not add up to {kernels} times {cycles['instructions']}: {causes}"
    return ""


def _judged(run: Run, ended: Ended, document: dict[str, Any]) -> Finding:
    """Return what to think of a run by itself."""
    if ended.status not in STATUSES or "internal error" in ended.err:
        return Finding("untidy", False, f"status {ended.status}: {ended.err.strip()}")
    if ended.status == 0:
        if ended.err:
            return Finding("untidy", False, f"status 0, and on standard error {ended.err!r}")
        expected = expected_of(run)
        if ended.out != expected:
            return Finding("wrong", False, f"wrong and not noticed: {_first_difference(ended.out, expected)}")
        unbalanced = _unbalanced(document)
        return Finding("unbalanced", False, unbalanced) if unbalanced else Finding("right", True)
    for kind, part in (("overflow", "overflowed its queues"), ("long", "cycle limit of")):
        if ended.status == 3 and part in ended.line:
            return Finding(kind, run.copies, ended.line)
    return Finding("failed", False, f"status {ended.status}: {ended.line}")


def _first_difference(found: str, expected: str) -> str:
    lines, others = found.splitlines(), expected.splitlines()
    for line, other in zip(lines, others, strict=False):
        if line != other:
            return f"{line!r} instead of {other!r}"
    return f"{len(lines)} lines instead of {len(others)}"


def _comparable(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in ("wall", "executor", "threads")}


def _difference(first: object, second: object, place: str = "") -> str:
    """Return where two documents differ first, or nothing."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return next(filter(None, (_difference(first[name], second[name], f"{place}.{name}") for name in first)), "")
    return "" if first == second else f"{place[1:] or 'document'} is {second}, and {first} on one thread"


def examine(run: Run, folder: Path) -> Finding:
    """Make a run, and once more in its way."""
    prepare(run, folder)
    maker = _Maker(run, folder)
    ended, document = maker.make("--threads", "1")
    finding = _judged(run, ended, document)
    cycles = document.get("wall", {}).get("simulated_cycles", 0)
    possible = {"": False, "threads": True, "amaranth": 0 < cycles <= _MOST_IN_PYTHON}.get(run.way, bool(cycles))
    if finding.good and possible:
        options = {
            "threads": ("--threads", "2"),
            "amaranth": ("--executor", "amaranth"),
            "waves": ("--waves", str(folder / "run.vcd"), "--wave-window", "100:400"),
        }
        other, others = maker.resumed(cycles) if run.way == "resumed" else maker.make(*options[run.way])
        maker.counts[f"with {run.way}"] += 1
        said = (ended.status, ended.out, ended.line)
        if run.way == "waves" and "--wave-window begins" in other.err:
            other = other._replace(err=ended.err)
        difference = (
            _difference(_comparable(document), _comparable(others))
            if (other.status, other.out, other.line) == said
            else f"status {other.status}, {other.line!r}, and {ended.status}, {ended.line!r} on one thread"
        )
        if difference:
            finding = Finding("different", False, f"{run.way}: {difference}")
    return replace(finding, counts=dict(maker.counts))


RUNS = Part("runs", 400, 600, draw, examine)
"""The part."""
