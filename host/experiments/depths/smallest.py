"""Smallest FIFOs of a recorded run: a search over all depths that the run uses, from a guess of the record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyscc.host.analysis.explain.evidence import FifoUse, evidence_of
from cyscc.host.experiments.depths.search import Depths, DepthSearch
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.sweep.batch import Batch
from cyscc.host.experiments.sweep.points import SweepFolder, SweepPoint
from cyscc.host.experiments.sweep.recorded import RecordedPoints, cycles_of
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.record.reader import Record
from cyscc.host.runs.rerun import RerunSetting
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import SimulationError
from cyscc.sim.memory import Profile

__all__ = ["WITHIN", "Check", "Depth", "SmallestDepths", "smallest_depths"]

WITHIN = 0.01
"""Default of the cycles that smaller FIFOs may cost, as a share of the run's."""


@dataclass(frozen=True, kw_only=True)
class Depth:
    """Depth of the FIFOs of a parameter.

    Parameters
    ----------
    parameter : str
        The configuration's parameter.
    present, smallest : int
        Depth in the recorded run, and the smallest one.
    halved : int or None
        Measured cycles with half of the smallest depth, and the other FIFOs at their smallest; None if the smallest
        depth is the least that a machine may have.
    """

    parameter: str
    present: int
    smallest: int
    halved: int | None


@dataclass(frozen=True, kw_only=True)
class Check:
    """The smallest FIFOs on another graph.

    Parameters
    ----------
    graph : str
        The graph.
    present, smallest : int
        Cycles with the depths of the recorded run, and with the smallest ones.
    """

    graph: str
    present: int
    smallest: int


@dataclass(frozen=True, kw_only=True)
class SmallestDepths:
    """Smallest FIFOs of a recorded run.

    Parameters
    ----------
    record : Record
        The record of the run.
    folder : SweepFolder
        Folder of the measured runs.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    limit : int
        Most cycles that are within it.
    depths : tuple of Depth
        The depths of all FIFOs that the run uses.
    points : dict of tuple to SweepPoint
        The measured runs by their depths.
    cycles : dict of tuple to int
        Their cycles.
    equals : tuple of tuple
        Other measured depths within the limit that are as small.
    checks : tuple of Check
        The same depths on other graphs.
    made, found : int
        Number of runs that were made, and that existed.
    areas : dict of tuple to dict
        Area of the machines with present and smallest depths, the columns of
        `cyscc.host.experiments.fpga.area.AREA`; empty if it was not asked for.
    """

    record: Record
    folder: SweepFolder
    within: float
    limit: int
    depths: tuple[Depth, ...]
    points: Mapping[Depths, SweepPoint]
    cycles: Mapping[Depths, int]
    equals: tuple[Depths, ...]
    checks: tuple[Check, ...]
    made: int
    found: int
    areas: Mapping[Depths, Mapping[str, int]]

    @property
    def present(self) -> Depths:
        """The depths of the recorded run."""
        return tuple(each.present for each in self.depths)

    @property
    def smallest(self) -> Depths:
        """The smallest depths."""
        return tuple(each.smallest for each in self.depths)

    @property
    def settings(self) -> dict[str, int]:
        """The smallest depths that differ from the present ones, by parameter."""
        return self.settings_of(self.smallest)

    def settings_of(self, depths: Depths) -> dict[str, int]:
        """Return the depths that differ from the present ones, by parameter."""
        pairs = zip(self.depths, depths, strict=True)
        return {each.parameter: depth for each, depth in pairs if depth != each.present}

    @property
    def smallest_record(self) -> Path:
        """Folder of the record with the smallest depths."""
        return self.folder.of(self.points[self.smallest])


def smallest_depths(
    record: Record,
    batch: Batch,
    *,
    within: float = WITHIN,
    check: Iterable[str] = (),
    graph: Graph | str | None = None,
    memory: Profile | str | None = None,
) -> SmallestDepths:
    """Find the smallest FIFOs with which a recorded run takes hardly more cycles.

    Parameters
    ----------
    record : Record
        The record of the run.
    batch : Batch
        Where and how the runs are made; the areas are those of the machines with present and smallest depths.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    check : iterable of str
        Files of other graphs, on which the depths are checked.
    graph : Graph or str, optional
        The graph or its file, if the recorded file has moved, or there was none.
    memory : Profile or str, optional
        The memory profile, or its text as the user gave it, for a run with rules of its own.

    Raises
    ------
    InputError
        The run is not complete, or its graph or memory cannot be had.
    SimulationError
        A run failed, or Yosys is missing or failed.
    """
    uses: dict[str, list[FifoUse]] = {}
    for evidence in evidence_of(record):
        for fifo in evidence.fifos:
            uses.setdefault(fifo.parameter, []).append(fifo)
    present = tuple(each[0].depth for each in uses.values())
    points: dict[Depths, SweepPoint] = {}
    made = found = 0
    others = [_readable(path) for path in check]
    with batch.opened() as kept:
        setting = RerunSetting(progress=batch.progress, threads=1, graph=graph, memory=memory)
        recorded = RecordedPoints(record, kept, setting)
        with batch.progress.step("simulating") as step:

            def made_of(asked: list[SweepPoint]) -> list[int]:
                """Return the cycles of runs."""
                nonlocal made, found
                before = made + found

                def on_step(done: int, total: int, what: str) -> None:
                    step(before + done, before + total, what)

                swept = batch.sweep(asked, kept, on_step)
                for reason in swept.failures.values():
                    raise SimulationError(reason)
                made, found = made + swept.made, found + swept.found
                return [cycles_of(kept.record(point)) for point in asked]

            def measure(wanted: list[Depths]) -> dict[Depths, int]:
                points.update({depths: recorded.point(dict(zip(uses, depths, strict=True))) for depths in wanted})
                return dict(zip(wanted, made_of([points[depths] for depths in wanted]), strict=True))

            search = DepthSearch(
                present=present,
                limits=[AcceleratorConfig.limits(name) for name in uses],
                copies=[int(record.machine["kernels"][each[0].module]) for each in uses.values()],
                within=within,
                measure=measure,
            )
            smallest = search.smallest(tuple(map(_guess, uses.values())))
            both = [dict(zip(uses, depths, strict=True)) for depths in (present, smallest)]
            checks = [
                (each.label, made_of([recorded.elsewhere(settings, each) for settings in both])) for each in others
            ]
        configs = {depths: points[depths].spec.configuration for depths in (present, smallest)}
        found_areas = batch.areas(configs.values())
    halved = [search.halved(smallest, place) for place in range(len(smallest))]
    parts = zip(uses, present, smallest, halved, strict=True)
    return SmallestDepths(
        record=record,
        folder=kept,
        within=within,
        limit=search.limit,
        depths=tuple(
            Depth(parameter=name, present=now, smallest=depth, halved=None if half is None else search.cycles[half])
            for name, now, depth, half in parts
        ),
        points=points,
        cycles=search.cycles,
        equals=tuple(search.equals(smallest)),
        checks=tuple(Check(graph=graph, present=now, smallest=then) for graph, (now, then) in checks),
        made=made,
        found=found,
        areas={depths: found_areas[config] for depths, config in configs.items() if found_areas},
    )


def _readable(path: str) -> GraphFile:
    """Return the file of a graph, which was read once."""
    read_graph(path)
    return GraphFile.of(Path(path))


def _guess(uses: Sequence[FifoUse]) -> int:
    """Return the depth for the places that entries and reads in flight took on average, at most the present depth.

    Bursts may need more of them, and where another part of the machine limits the kernel, fewer may do.
    """
    places = max(use.mean + (use.under_way or 0.0) for use in uses)
    depth, _ = AcceleratorConfig.limits(uses[0].parameter)
    while depth < min(places, uses[0].depth):
        depth *= 2
    return depth
