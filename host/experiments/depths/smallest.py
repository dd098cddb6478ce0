"""Smallest FIFOs of a recorded run: a search over all depths that the run uses, from a guess of the record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyscc.host.analysis.explain.evidence import FifoUse, evidence_of
from cyscc.host.experiments.depths.search import Depths, DepthSearch
from cyscc.host.experiments.fpga.area import areas
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.measuring.points import PointRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep.recorded import RecordedPoints
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.record.reader import Record
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.memory import Profile

WITHIN = 0.01
"""Default of the cycles that smaller FIFOs may cost, as a share of the run's."""


@dataclass(frozen=True, kw_only=True)
class SmallestDepths:
    """Smallest FIFOs of a recorded run.

    Parameters
    ----------
    record : Record
        The record of the run.
    plan : Plan
        How the runs were made.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    parameters : tuple of str
        The configuration's parameters with the depths of all FIFOs that the run uses.
    present, smallest : tuple of int
        Depths in the recorded run, and the smallest ones.
    search : DepthSearch
        The search, with all measured cycles.
    points : dict of tuple to PointRequest
        The measured runs by their depths.
    checks : dict of str to list of int
        Cycles on other graphs, by their names, with present and with smallest depths.
    areas : list of dict
        Area of the machines with present and with smallest depths, the columns of
        `cyscc.host.experiments.fpga.area.AREA`; empty if it was not asked for.
    """

    record: Record
    plan: Plan
    within: float
    parameters: tuple[str, ...]
    present: Depths
    smallest: Depths
    search: DepthSearch
    points: Mapping[Depths, PointRequest]
    checks: Mapping[str, list[int]]
    areas: Sequence[Mapping[str, int]]

    def settings(self, depths: Depths) -> dict[str, int]:
        """Return the depths that differ from the present ones, by parameter."""
        named = zip(self.parameters, self.present, depths, strict=True)
        return {name: depth for name, now, depth in named if depth != now}


def smallest_depths(
    record: Record,
    plan: Plan,
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
    plan : Plan
        Where and how the runs are made; the areas are those of the machines with present and smallest depths.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    check : iterable of str
        Files of other graphs, on which the depths are checked.
    graph, memory
        As of `RecordedPoints`.

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
    points: dict[Depths, PointRequest] = {}
    others = [_readable(path) for path in check]

    def settings(depths: Depths) -> dict[str, int]:
        return dict(zip(uses, depths, strict=True))

    with plan.opened():
        runs = RecordedPoints(record, plan, graph=graph, memory=memory)
        with plan.progress.step("simulating") as step:

            def measure(wanted: list[Depths]) -> dict[Depths, int]:
                points.update({depths: runs.point(settings(depths)) for depths in wanted})
                return dict(zip(wanted, runs.cycles([points[depths] for depths in wanted], step), strict=True))

            search = DepthSearch(
                present=present,
                limits=[AcceleratorConfig.limits(name) for name in uses],
                copies=[int(record.machine["kernels"][each[0].module]) for each in uses.values()],
                within=within,
                measure=measure,
            )
            smallest = search.smallest(tuple(map(_guess, uses.values())))
            both = present, smallest
            checks = {
                other.label: runs.cycles([runs.elsewhere(settings(depths), other) for depths in both], step)
                for other in others
            }
        configs = [points[depths].spec.configuration for depths in both]
        found = areas(plan, configs)
    return SmallestDepths(
        record=record,
        plan=plan,
        within=within,
        parameters=tuple(uses),
        present=present,
        smallest=smallest,
        search=search,
        points=points,
        checks=checks,
        areas=[found[config] for config in configs if found],
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
