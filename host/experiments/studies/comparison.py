"""Comparison of software on this machine and of simulated machines, on the same graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.answer import charts
from cyscc.host.answer.charts import Figure, Panel, Trace, look
from cyscc.host.answer.colours import BLUE, ORANGE
from cyscc.host.baselines.algorithms import KINDS, Kind
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import Order
from cyscc.host.baselines.peers import PEERS, SCIPY
from cyscc.host.baselines.software.decomposition import (
    SoftwareSetting,
    Transposed,
    peer_runs,
    run_software,
    transposed,
)
from cyscc.host.baselines.software.limited import ChildError, LimitError, Reports, in_child
from cyscc.host.experiments.measuring.software import fastest
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import named_graph
from cyscc.host.graph.reference import component_sizes
from cyscc.host.output.progress import OnProgress, Progress
from cyscc.host.output.text import device_text, milliseconds_text
from cyscc.host.runs.execution import Session
from cyscc.host.runs.results import SccResult
from cyscc.host.specification.run import RunSpec
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import SimulationError

_BASE = "tarjan"
"""The baseline of ``speed_up``."""

_LIBRARY = Kind(text="a library", function="", transpose=False)
"""Capabilities of the libraries."""

_OF_SOFTWARE = (
    *("simulated", "area", "trouble"),
    *("transpose_milliseconds", "upload_milliseconds", "total_milliseconds", "over_scipy_total"),
)
_OF_MACHINES = ("simulated", "area", "cycles")
"""Fields that rows of machines, and of software, do not have."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Result of one algorithm or machine on a graph.

    Parameters
    ----------
    name : str
        Name of the algorithm, or of the machine's configuration.
    simulated : bool
        Whether `milliseconds` is simulated time (cycles by the machine's clock), and not real time.
    where : str
        The processor, device or machine that it ran on.
    milliseconds : float or None
        Time of the algorithm alone; None if it was given up.
    transpose_milliseconds : float or None
        Time of transposing the graph; None if it needs no transpose.
    upload_milliseconds : float or None
        Time of copying the graph to the device, or into a library's own form; None if there is nothing of the kind.
    edges, passes : int or None
        Edges read; passes, that is rounds of which each waits for the previous one. None if they are not counted.
    cycles : int or None
        Cycles of a simulated machine.
    counts : mapping
        Further counters of the algorithm.
    area : mapping
        Area of a simulated machine, the columns of `cyscc.host.experiments.fpga.area.AREA`; empty if it is unknown.
    trouble : str or None
        Reason if there is no time.
    """

    name: str
    simulated: bool
    where: str
    milliseconds: float | None = None
    transpose_milliseconds: float | None = None
    upload_milliseconds: float | None = None
    edges: int | None = None
    passes: int | None = None
    cycles: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    area: Mapping[str, int] = field(default_factory=dict)
    trouble: str | None = None

    @property
    def told(self) -> str:
        """The name, and the time or why there is none."""
        kind = "simulated" if self.simulated else "total"
        time = self.milliseconds if self.simulated else self.total_milliseconds
        return f"{self.name}: {self.trouble}" if time is None else f"{self.name}: {time:,.3f} ms {kind}"

    @property
    def total_milliseconds(self) -> float | None:
        """Time from a graph in CSR form to its components; None if it was given up, or is simulated."""
        if self.milliseconds is None or self.simulated:
            return None
        return self.milliseconds + (self.transpose_milliseconds or 0) + (self.upload_milliseconds or 0)

    @property
    def ready_milliseconds(self) -> float | None:
        """The total, but of a library that of the algorithm alone, as if the graph had its form already."""
        return self.milliseconds if self.simulated or self.name in PEERS else self.total_milliseconds


@dataclass(frozen=True, kw_only=True)
class AlgorithmComparison:
    """The entries of all contenders on a graph.

    Parameters
    ----------
    graph : str
        The graph's file, as given.
    vertices, edges : int
        Its size.
    components, largest : int or None
        Its number of components, and the vertices in the largest one; None if no software has ended in time.
    reference : str or None
        The software that the results are compared with: the first that has ended in time.
    entries : tuple of Entry
        The results, of software first.
    """

    graph: str
    vertices: int
    edges: int
    components: int | None = None
    largest: int | None = None
    reference: str | None = None
    entries: tuple[Entry, ...] = ()

    def about(self) -> dict[str, Any]:
        """Return the graph and its components as a row."""
        return {
            name: getattr(self, name) for name in ("graph", "vertices", "edges", "components", "largest", "reference")
        }

    def rows(self, *, simulated: bool) -> list[dict[str, Any]]:
        """Return a row for each software, or for each simulated machine, with its speed-ups."""
        return [{"graph": self.graph, **self._row(entry)} for entry in self.entries if entry.simulated == simulated]

    def _row(self, entry: Entry) -> dict[str, Any]:
        lacking = _OF_SOFTWARE if entry.simulated else _OF_MACHINES
        row = {
            **asdict(entry),
            "total_milliseconds": entry.total_milliseconds,
            "speed_up": self._ratio(_BASE, entry, "milliseconds"),
            "over_scipy": self._ratio(SCIPY, entry, "ready_milliseconds"),
            "over_scipy_total": self._ratio(SCIPY, entry, "total_milliseconds"),
            **entry.area,
        }
        return {name: value for name, value in row.items() if name not in lacking}

    def _ratio(self, base: str, entry: Entry, what: str) -> float | None:
        """Return a time of another entry, by its name, over that of this one; None if either has none.

        That of a simulated machine is simulated, so that the ratio is real time over simulated time.
        """
        time, others = getattr(entry, what), [getattr(each, what) for each in self.entries if each.name == base]
        return others[0] / time if time and others and others[0] is not None else None


@dataclass(frozen=True, kw_only=True)
class Contenders:
    """Contenders of a comparison, and the settings of their runs.

    Parameters
    ----------
    algorithms : tuple of str
        Software: names of `cyscc.host.baselines.algorithms.KINDS` and of `cyscc.host.baselines.peers.PEERS`.
    machines : tuple of RunSpec
        Runs of simulated machines; they specify whether their results are verified.
    areas : mapping
        Area of the machines by configuration, as `Entry` has it; empty if they are not synthesised.
    device : str
        The device for algorithms made of steps.
    order : Order
        Execution order of their threads.
    threads, seed : int
        Most threads of an algorithm; seed of its random choices.
    runs : int
        Number of runs of software; the fastest one counts, with its counters.
    limit : float
        Seconds after which software is ended; they count from the end of its warm-up, and for all its runs.
    verify : bool
        Whether the results of software are compared with each other.
    undirected : bool
        Whether each edge is read in both directions.
    """

    algorithms: tuple[str, ...] = ()
    machines: tuple[RunSpec, ...] = ()
    areas: Mapping[AcceleratorConfig, Mapping[str, int]] = field(default_factory=dict)
    device: str
    order: Order
    threads: int
    seed: int
    runs: int
    limit: float
    verify: bool = True
    undirected: bool = False

    def compare(
        self,
        given: Graph | str | PathLike[str],
        progress: Progress,
        *,
        on_entry: Callable[[AlgorithmComparison], None] | None = None,
    ) -> AlgorithmComparison:
        """Run all contenders on a graph, and return their comparison.

        Parameters
        ----------
        given : Graph, str or path
            The graph, or its file.
        progress : Progress
            Progress display.
        on_entry : callable, optional
            Called with the comparison so far after each contender.

        Raises
        ------
        InputError, SimulationError
            The graph cannot be read, a simulation failed, or a result is wrong.
        """
        path, graph = named_graph(given, progress, undirected=self.undirected)
        transpose = None
        if any(KINDS.get(name, _LIBRARY).transpose for name in self.algorithms):
            with progress.step(f"{path}: transposing"):
                transpose, _ = fastest(lambda: transposed(graph), runs=self.runs, limit=self.limit)
        comparison = AlgorithmComparison(graph=path, vertices=graph.vertices, edges=graph.edges)
        expected = None

        def add(entry: Entry) -> AlgorithmComparison:
            extended = replace(comparison, entries=(*comparison.entries, entry))
            if on_entry is not None:
                on_entry(extended)
            return extended

        # scipy first: its result verifies the others.
        for name in (SCIPY, *(name for name in self.algorithms if name != SCIPY)):
            with progress.step(f"{path}: {name}") as step:
                entry, labels = self.timed(name, graph, transpose, step)
            if labels is not None and expected is None:
                expected = labels
                sizes = component_sizes(labels)[1]
                comparison = replace(comparison, reference=name, components=int(sizes.size), largest=int(sizes.max()))
            elif labels is not None and expected is not None and self.verify and not np.array_equal(labels, expected):
                vertex = graph.original(np.array([(labels != expected).argmax()]))[0]
                other = f"in another component than by {comparison.reference}"
                raise SimulationError(f"wrong result: {name}: vertex {vertex} is {other}")
            if name in self.algorithms:
                comparison = add(entry)
        for spec in self.machines:
            entry = _machine_entry(replace(spec, graph=path), graph, progress)
            comparison = add(replace(entry, area=self.areas.get(spec.configuration, {})))
        return comparison

    def timed(
        self, name: str, graph: Graph, transpose: Transposed | None, watch: OnProgress
    ) -> tuple[Entry, NDArray[np.uint32] | None]:
        """Time a contender in a process of its own; return its entry and the components' canonical ids.

        Parameters
        ----------
        name : str
            The algorithm or library.
        graph : Graph
            The graph.
        transpose : Transposed or None
            Its transpose; None if no algorithm needs it.
        watch : callable
            Progress callback.
        """
        kind = KINDS.get(name, _LIBRARY)
        device, threads = self.device if kind.devices else "cpu", self.threads if kind.threads else 1
        reverse = transpose if kind.transpose else None
        entry = Entry(name=name, simulated=False, where=device_text(device, threads))

        def run_all(reports: Reports) -> None:
            how: dict[str, Any] = {"runs": self.runs, "limit": self.limit, "on_best": reports.result}
            if kind is _LIBRARY:
                fastest(peer_runs(name, graph, threads=self.threads, begin=reports.start_limit), **how)
                return
            with open_device(device, threads=threads, order=self.order) as opened:
                setting = SoftwareSetting(
                    device=opened, seed=self.seed, watch=reports.progress, begin=reports.start_limit
                )
                own = (graph, None if reverse is None else reverse.graph)
                fastest(lambda: run_software(name, *own, setting), **how)

        try:
            best = in_child(name, run_all, limit=self.limit, watch=watch)
        except (LimitError, ChildError) as error:
            return replace(entry, trouble=str(error).removeprefix(f"{name}: ")), None
        counts = best.found.counts
        entry = replace(
            entry,
            milliseconds=best.seconds * 1e3,
            transpose_milliseconds=None if reverse is None else reverse.seconds * 1e3,
            upload_milliseconds=best.upload_seconds * 1e3 if kind is _LIBRARY or kind.devices else None,
            edges=counts.get("edges"),
            passes=counts.get("passes"),
            counts=counts,
        )
        return entry, best.found.labels


def _machine_entry(spec: RunSpec, graph: Graph, progress: Progress) -> Entry:
    """Return the result of a simulated machine; its passes are the levels of searches, and intersections."""
    result = Session(spec, progress, graph).execute()
    assert isinstance(result, SccResult), "components were found"
    run = result.run
    clock = f"{result.setting.clock_hz / 1e6:g} MHz"
    return Entry(
        name=spec.config_name,
        simulated=True,
        where=f"{clock}, memory {spec.memory_name}",
        milliseconds=result.seconds * 1e3,
        edges=run.edges_traversed,
        passes=run.forward.levels + run.backward.levels + run.intersections,
        cycles=run.cycles,
        counts={"iterations": run.iterations, "trimmed": run.trimmed},
    )


def comparison_figure(comparisons: Sequence[AlgorithmComparison]) -> Figure:
    """Return a chart of times on a logarithmic axis; simulated times have a marker and a label of their own.

    Parameters
    ----------
    comparisons : sequence of AlgorithmComparison
        One for each panel, from top to bottom.
    """
    parts = []
    for comparison in comparisons:
        names = [f"{entry.name}: {entry.trouble}" if entry.trouble else entry.name for entry in comparison.entries]
        sizes = f"{comparison.vertices:,} vertices, {comparison.edges:,} edges, {comparison.components:,} components"
        title = f"{charts.literal(Path(comparison.graph).name)}: {sizes}"
        rows, height = charts.row_axis(names), 110 + 30 * len(names)
        parts.append(Panel(title, _times(comparison), {"title": "time (ms)"}, rows, height, log="x"))
    return charts.panels(parts, columns=1, shared="x")


def _times(comparison: AlgorithmComparison) -> list[Trace]:
    """Return the times of a graph's entries; those of software reach from the algorithm alone to the total."""
    found: list[Trace] = []
    for simulated, colour, symbol, label in (
        (False, BLUE, "circle", "software: real time on this machine"),
        (True, ORANGE, "diamond", "machine: simulated time, cycles by its clock"),
    ):
        rows = {
            place: entry
            for place, entry in enumerate(comparison.entries)
            if entry.simulated == simulated and entry.milliseconds is not None
        }
        if not rows:
            continue
        alone = [entry.milliseconds or 0 for entry in rows.values()]
        times = alone if simulated else [entry.total_milliseconds or 0 for entry in rows.values()]
        looks = look("points", colour, mode="markers+text", textposition="middle right", marker={"symbol": symbol})
        texts = list(map(milliseconds_text, times))
        found.append({**looks, "name": label, "x": times, "y": list(rows), "text": texts})
        if not simulated:
            rest = [time - part for time, part in zip(times, alone, strict=True)]
            own = look("points", colour, marker={"symbol": "line-ns", "line": {"width": 1.5, "color": colour}})
            reach = {"error_x": {"type": "data", "array": rest, "arrayminus": [0] * len(rest), "width": 0}}
            name = "of it, the algorithm alone; the line: transpose and upload"
            found.append({**own, "name": name, "x": alone, "y": list(rows), **reach})
    return found
