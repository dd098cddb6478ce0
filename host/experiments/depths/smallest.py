"""Smallest FIFOs of a recorded run: a search over all depths that the run uses, from a guess of the record."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import floor
from pathlib import Path
from typing import Any

from cyscc.host.analysis.explain.evidence import FifoUse, evidence_of
from cyscc.host.answer.answer import Answer, Column
from cyscc.host.experiments.fpga.area import AREA, areas
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.measuring.runs import PointRequest
from cyscc.host.experiments.sheets import TABLES
from cyscc.host.experiments.sweep.recorded import RecordedPoints, cycles_of, rerun_answer, settings_text
from cyscc.host.graph.formats import read_graph
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.notices import printable

Depths = tuple[int, ...]
"""A depth of each FIFO."""

_LUT_RAM = 64
"""Most places of a FIFO in LUT RAM; a deeper one takes block RAM, of which 512 places cost no more than 128."""


@dataclass(kw_only=True)
class DepthSearch:
    """A search, with what it has measured so far.

    FIFOs are smaller if fewer of them are in block RAM, or, with as many, if they have fewer places in total.

    Parameters
    ----------
    present : tuple
        The present depths, powers of two.
    limits : sequence of (int, int)
        Least and greatest depth of each FIFO.
    copies : sequence of int
        Number of FIFOs of each depth.
    within : float
        Cycles that smaller FIFOs may cost, as a share of those with the present depths.
    measure : callable
        Returns the cycles with each of some depths.

    Attributes
    ----------
    cycles : dict of tuple to int
        Cycles by depths.
    """

    present: Depths
    limits: Sequence[tuple[int, int]]
    copies: Sequence[int]
    within: float
    measure: Callable[[list[Depths]], Mapping[Depths, int]]
    cycles: dict[Depths, int] = field(default_factory=dict, init=False)

    @property
    def limit(self) -> int:
        """Most cycles that count as hardly more than those with the present depths."""
        return floor(self.cycles[self.present] * (1 + self.within))

    def smallest(self, guess: Depths) -> Depths:
        """Return the smallest depths.

        Parameters
        ----------
        guess : tuple
            The depths to start from, at most the present ones.
        """
        self._measure([self.present, guess])
        depths = self._grown(guess)
        while True:
            halved = self._enough(each for place in range(len(depths)) for each in self._changed(depths, place, 0.5))
            if halved:
                together = tuple(map(min, zip(*halved, strict=True)))
                depths = next(iter(self._enough([together])), halved[0])
                continue
            self._enough(self._exchanged(depths))
            best = self._enough([depths, *self.cycles])[0]
            if self._rank(best) == self._rank(depths):
                return depths
            depths = best

    def equals(self, depths: Depths) -> list[Depths]:
        """Return the measured depths within the limit that are as small as the given ones."""
        cost = self._cost(depths)
        return [each for each in self._enough(self.cycles) if each != depths and self._cost(each) == cost]

    def halved(self, depths: Depths, place: int) -> Depths | None:
        """Return the depths with one halved; None if there is no such FIFO."""
        return next(self._changed(depths, place, 0.5), None)

    def _changed(self, depths: Depths, place: int, factor: float) -> Iterator[Depths]:
        """Yield the depths with one multiplied by a factor; nothing if there is no such FIFO."""
        depth = int(depths[place] * factor)
        least, most = self.limits[place]
        if least <= depth <= most:
            yield (*depths[:place], depth, *depths[place + 1 :])

    def _exchanged(self, depths: Depths) -> list[Depths]:
        """Return the depths with one halved and another one doubled that are no larger."""
        every = [
            each
            for smaller, larger in permutations(range(len(depths)), 2)
            for half in self._changed(depths, smaller, 0.5)
            for each in self._changed(half, larger, 2)
        ]
        return [each for each in every if self._cost(each) <= self._cost(depths)]

    def _grown(self, depths: Depths) -> Depths:
        """Return depths within the limit, at least the given ones and at most the present ones."""
        while not self._enough([depths]):
            # There is one to double: the present depths are within the limit.
            doubled = [
                each
                for place, present in enumerate(self.present)
                if depths[place] < present
                for each in self._changed(depths, place, 2)
            ]
            enough = self._enough(doubled)
            depths = enough[0] if enough else min(doubled, key=self.cycles.__getitem__)
        return depths

    def _enough(self, wanted: Iterable[Depths]) -> list[Depths]:
        """Measure depths, and return those within the limit: the smallest first, of equal ones the fastest."""
        every = list(wanted)
        self._measure(every)
        return sorted((depths for depths in every if self.cycles[depths] <= self.limit), key=self._rank)

    def _rank(self, depths: Depths) -> tuple[tuple[int, int], int]:
        """Return what is least for the best depths."""
        return self._cost(depths), self.cycles[depths]

    def _cost(self, depths: Depths) -> tuple[int, int]:
        """Return the size of FIFOs: the number of those in block RAM, and the places of all."""
        sizes = list(zip(self.copies, depths, strict=True))
        return sum(count for count, depth in sizes if depth > _LUT_RAM), sum(count * depth for count, depth in sizes)

    def _measure(self, wanted: Iterable[Depths]) -> None:
        missing = [depths for depths in dict.fromkeys(wanted) if depths not in self.cycles]
        if missing:
            self.cycles.update(self.measure(missing))


WITHIN = 0.01
"""Default of the cycles that smaller FIFOs may cost, as a share of the run's."""


class SmallestDepths:
    """Smallest FIFOs with which a recorded run takes hardly more cycles, found by a search.

    Parameters
    ----------
    runs : RecordedPoints
        The run, and how it is made again; the areas are those of the machines with present and smallest depths.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    check : iterable of str
        Files of other graphs, on which the depths are checked.

    Raises
    ------
    InputError
        The run's graph cannot be had, or another one cannot be read.
    SimulationError
        A run failed, or Yosys is missing or failed.
    """

    def __init__(self, runs: RecordedPoints, *, within: float = WITHIN, check: Iterable[str] = ()) -> None:
        record, plan = runs.record, runs.plan
        uses: dict[str, list[FifoUse]] = {}
        for evidence in evidence_of(record):
            for fifo in evidence.fifos:
                uses.setdefault(fifo.parameter, []).append(fifo)
        self._record, self._plan, self._parameters = record, plan, tuple(uses)
        self._points: dict[Depths, PointRequest] = {}
        others = [_readable(path) for path in check]
        with plan.opened():
            with plan.progress.step("simulating") as step:

                def measure(wanted: list[Depths]) -> dict[Depths, int]:
                    self._points.update({depths: runs.point(self._named(depths)) for depths in wanted})
                    cycles = runs.cycles([self._points[depths] for depths in wanted], step)
                    return dict(zip(wanted, cycles, strict=True))

                self._search = DepthSearch(
                    present=tuple(each[0].depth for each in uses.values()),
                    limits=[AcceleratorConfig.limits(name) for name in uses],
                    copies=[int(record.machine["kernels"][each[0].module]) for each in uses.values()],
                    within=within,
                    measure=measure,
                )
                self._smallest = self._search.smallest(tuple(map(_guess, uses.values())))
                both = self._search.present, self._smallest
                self._checked = {
                    other.label: runs.cycles([runs.elsewhere(self._named(depths), other) for depths in both], step)
                    for other in others
                }
            configs = [self._points[depths].spec.configuration for depths in both]
            found = areas(plan, configs)
        self._areas = [found[config] for config in configs if found]

    def answer(self) -> Answer:
        """Return the answer: the run, the FIFOs, the area if it is known, and how to go on."""
        search, depths = self._search, self._rows()
        present, smallest = (self._row(each) for each in (search.present, self._smallest))
        machines = []
        if self._areas:
            before, after = self._areas
            present, smallest = {**present, **before}, {**smallest, **after}
            more = {name: after[name] - number for name, number in before.items()}
            named = (("present", before), ("smallest", after), ("difference", more))
            machines = [{"machine": name, **area} for name, area in named]
        least = any(row["halved"] is None for row in depths)
        checks = [{"graph": graph, "present": now, "smallest": then} for graph, (now, then) in self._checked.items()]
        return rerun_answer(
            self._record,
            self._plan,
            facts={},
            said=self._conclusion(),
            tables={
                "depths": TABLES.table(
                    "depths",
                    depths,
                    {"within": 100 * search.within, "cycles": present["cycles"]},
                    note="without cycles: half of it is less than there can be" if least else "",
                ),
                "area": TABLES.table(
                    "area", machines, columns={name: Column(head, "{:,}") for name, head in AREA.items()}
                ),
                "checks": TABLES.table("checks", checks),
                "runs": TABLES.table("runs", list(map(self._row, search.cycles))),
            },
            fields={
                "within": search.within,
                "limit": search.limit,
                "present_cycles": present["cycles"],
                "cycles": smallest["cycles"],
                "present": present,
                "smallest": smallest,
                "as_small": list(map(self._row, search.equals(self._smallest))),
                "settings": self._settings(self._smallest),
            },
        )

    def _named(self, depths: Depths) -> dict[str, int]:
        return dict(zip(self._parameters, depths, strict=True))

    def _settings(self, depths: Depths) -> dict[str, int]:
        """Return the depths that differ from the present ones, by parameter."""
        present = self._named(self._search.present)
        return {name: depth for name, depth in self._named(depths).items() if depth != present[name]}

    def _change(self, depths: Depths) -> float:
        return self._search.cycles[depths] / self._search.cycles[self._search.present] - 1

    def _row(self, depths: Depths) -> dict[str, Any]:
        """Return the row of a run."""
        cycles = self._search.cycles[depths]
        return {
            **self._named(depths),
            "cycles": cycles,
            "change": self._change(depths),
            "within": cycles <= self._search.limit,
            "point": self._points[depths].digest,
        }

    def _rows(self) -> list[dict[str, Any]]:
        """Return a row for each parameter, with the cycles of half of its smallest depth, if a machine may have it."""
        rows = []
        for place, name in enumerate(self._parameters):
            half = self._search.halved(self._smallest, place)
            rows.append(
                {
                    "parameter": name,
                    "present": self._search.present[place],
                    "smallest": self._smallest[place],
                    "halved": None if half is None else self._search.cycles[half],
                    "change": None if half is None else self._change(half),
                }
            )
        return rows

    def _conclusion(self) -> list[str]:
        """Return the sentences of the conclusion."""
        search, plan, smallest = self._search, self._plan, self._smallest
        settings, cycles, cost = self._settings(smallest), search.cycles, f"{self._change(smallest):+.2%}"
        said = [f"{cycles[smallest]:,} cycles with the smallest, {cost}; at most {search.limit:,} are within."]
        if not settings:
            said = [f"The present ones are the smallest; at most {search.limit:,} cycles are within."]
        if any(search.halved(smallest, place) for place in range(len(self._parameters))):
            said.append(
                "Measured: with any one halved the run takes more; halving one and doubling another saves nothing."
            )
        recorded = cycles_of(self._record)
        if recorded != cycles[search.present]:
            said.append(f"The record has {recorded:,} cycles: it is that of another version of the program.")
        for depths in search.equals(smallest):
            other = settings_text(self._settings(depths))
            said.append(f"Not the only one: {other} is as small, and takes {cycles[depths]:,} cycles.")
        for graph, (now, then) in self._checked.items():
            change = then / max(now, 1) - 1
            said.append(
                f"On {printable(graph)}: {then:,} cycles with the smallest, {now:,} with the present ones "
                f"({change:+.2%}), {'within' if change <= search.within else 'more than'} the limit."
            )
        if settings:
            said.append(f"Options: {' '.join(f'--set {name}={depth}' for name, depth in settings.items())}")
        said.append(f"Record: {plan.store.folder_of(self._points[smallest])}")
        return [*said, plan.runs_text]


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
