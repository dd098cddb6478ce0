"""Comparison of software on this machine and of simulated machines, on the same graph."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import Order
from cyscc.host.baselines.software import SoftwareSetting, run_software
from cyscc.host.experiments.measuring.software import GivenUpError, fastest
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.graph.reference import canonical, component_matrix, component_sizes, matrix_components
from cyscc.host.output.figures import BLUE, ORANGE, add_legend, log_axis, new_figure, row_axis, time_text
from cyscc.host.output.progress import Progress
from cyscc.host.output.text import column_table, device_text, graph_text, largest_text
from cyscc.host.runs.execution import execute
from cyscc.host.runs.results import SccResult
from cyscc.host.specification.run import RunSpec
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import SimulationError
from cyscc.sim.notices import notice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["AlgorithmComparison", "Contenders", "Entry", "comparison_figure", "comparison_text", "scipy_entry"]

_BASE = "tarjan"
"""The baseline of speed-ups, as in most papers."""

SCIPY = "scipy"
"""Name of scipy's algorithm, whose result also verifies the others."""


_ROW = 0.3
"""Height of a row in inches."""


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
        Its time; None if it was given up.
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
    edges: int | None = None
    passes: int | None = None
    cycles: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    area: Mapping[str, int] = field(default_factory=dict)
    trouble: str | None = None


@dataclass(frozen=True, kw_only=True)
class AlgorithmComparison:
    """The entries of all contenders on a graph.

    Parameters
    ----------
    graph : str
        The graph's file, as given.
    vertices, edges, components, largest : int
        Its size, its number of components, and the vertices in the largest one.
    entries : tuple of Entry
        The results, of software first.
    """

    graph: str
    vertices: int
    edges: int
    components: int
    largest: int
    entries: tuple[Entry, ...]

    @property
    def base(self) -> float | None:
        """Milliseconds of the baseline algorithm; None if it did not run."""
        return next((entry.milliseconds for entry in self.entries if entry.name == _BASE), None)

    def speed_up(self, entry: Entry) -> float | None:
        """Return the speed-up of an entry over the baseline; None if either has no time.

        For a simulated machine, this is real time of the baseline over simulated time.
        """
        if self.base is None or not entry.milliseconds:
            return None
        return self.base / entry.milliseconds

    def document(self) -> dict[str, Any]:
        """Return the comparison as a JSON document."""
        return {
            "graph": {"file": self.graph, "vertices": self.vertices, "edges": self.edges},
            "components": {"count": self.components, "largest": self.largest},
            "entries": [self._entry(entry) for entry in self.entries],
        }

    def _entry(self, entry: Entry) -> dict[str, Any]:
        document = {**asdict(entry), "speed_up": self.speed_up(entry)}
        if not entry.area:
            del document["area"]
        return document


def scipy_entry(graph: Graph, *, runs: int, limit: float) -> tuple[Entry, NDArray[np.uint32]]:
    """Time scipy's algorithm on a matrix made beforehand, and return its components, which verify the others.

    Parameters
    ----------
    graph : Graph
        The graph.
    runs : int
        Number of runs; the fastest counts.
    limit : float
        Seconds after which no further run is started.

    Returns
    -------
    entry : Entry
    labels : ndarray of uint32, shape (n,)
        Canonical ids of the components.
    """
    matrix = component_matrix(graph)
    seconds: list[float] = []
    while len(seconds) < runs and sum(seconds) <= limit:
        begin = time.perf_counter()
        labels = matrix_components(matrix)
        seconds.append(time.perf_counter() - begin)
    return Entry(name=SCIPY, simulated=False, where="1 thread", milliseconds=min(seconds) * 1e3), canonical(labels)


@dataclass(frozen=True, kw_only=True)
class Contenders:
    """Contenders of a comparison, and the settings of their runs.

    Parameters
    ----------
    algorithms : tuple of str
        Software: `SCIPY`, and names of `cyscc.host.baselines.algorithms.KINDS`.
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
        Seconds after which an algorithm made of steps is given up, and no further run of the others is started.
    verify : bool
        Whether the results of software are verified by scipy's.
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

    def compare(
        self, path: str, progress: Progress, *, on_entry: Callable[[AlgorithmComparison], None] | None = None
    ) -> AlgorithmComparison:
        """Run all contenders on the graph in a file, and return their comparison.

        Parameters
        ----------
        path : str
            The file.
        progress : Progress
            Progress display.
        on_entry : callable, optional
            Called with the comparison so far after each contender.

        Raises
        ------
        InputError, SimulationError
            The graph cannot be read, a simulation failed, or a result is wrong.
        """
        with progress.step(f"{path}: reading") as step:
            graph: Graph = read_graph(path, watch=step, on_note=notice)
        with progress.step(f"{path}: transposing"):
            transpose = graph.transpose()
        with progress.step(f"{path}: scipy"):
            scipy, labels = scipy_entry(graph, runs=self.runs, limit=self.limit)
        sizes = component_sizes(labels)[1]
        comparison = AlgorithmComparison(
            graph=path,
            vertices=graph.vertices,
            edges=graph.edges,
            components=int(sizes.size),
            largest=int(sizes.max()),
            entries=(),
        )
        for entry in self._entries(path, graph, transpose, labels, scipy, progress):
            comparison = replace(comparison, entries=(*comparison.entries, entry))
            if on_entry is not None:
                on_entry(comparison)
        return comparison

    def _entries(
        self, path: str, graph: Graph, transpose: Graph, labels: NDArray[np.uint32], scipy: Entry, progress: Progress
    ) -> Iterator[Entry]:
        """Run the contenders but scipy one after the other, and yield the entries of all."""
        if SCIPY in self.algorithms:
            yield scipy
        for name in self.algorithms:
            if name != SCIPY:
                with progress.step(f"{path}: {name}") as step:
                    entry = self.timed(name, graph, transpose, labels, step)
                yield entry
        for spec in self.machines:
            entry = _machine_entry(replace(spec, graph=path), graph, progress)
            yield replace(entry, area=self.areas.get(spec.configuration, {}))

    def timed(
        self, name: str, graph: Graph, transpose: Graph, expected: NDArray[np.uint32], watch: Callable[[int, int], None]
    ) -> Entry:
        """Time an algorithm.

        Parameters
        ----------
        name : str
            The algorithm.
        graph, transpose : Graph
            The graph and its transpose.
        expected : ndarray of uint32, shape (n,)
            The components' canonical ids.
        watch : callable
            Progress callback.

        Raises
        ------
        SimulationError
            Its components are wrong.
        """
        kind, limit = KINDS[name], self.limit
        where, threads = self.device if kind.devices else "cpu", self.threads if kind.threads else 1
        with open_device(where, threads=threads, order=self.order) as device:
            entry = Entry(name=name, simulated=False, where=device_text(device.name, device.threads))
            begin = time.monotonic()

            def watched(done: int, total: int) -> None:
                if time.monotonic() - begin > limit:
                    raise GivenUpError
                watch(done, total)

            setting = SoftwareSetting(device=device, seed=self.seed, watch=watched)
            try:
                best, _ = fastest(lambda: run_software(name, graph, transpose, setting), runs=self.runs, limit=limit)
            except GivenUpError:
                return replace(entry, trouble=f"given up after {limit:g} s")
        if self.verify and not np.array_equal(best.found.labels, expected):
            vertex = graph.original(np.array([(best.found.labels != expected).argmax()]))[0]
            raise SimulationError(f"wrong result: {name}: vertex {vertex} is in another component than by scipy")
        edges, passes = (best.found.counts.get(what) for what in ("edges", "passes"))
        return replace(entry, milliseconds=best.seconds * 1e3, edges=edges, passes=passes, counts=best.found.counts)


def _machine_entry(spec: RunSpec, graph: Graph, progress: Progress) -> Entry:
    """Return the result of a simulated machine; its passes are the levels of searches, and intersections."""
    result = execute(spec, progress, graph=graph)
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


def comparison_text(comparison: AlgorithmComparison) -> str:
    """Return a graph's tables: software with real time, then simulated machines with simulated time."""
    parts = [
        f"{graph_text(comparison.graph, comparison.vertices, comparison.edges)}\n"
        f"components: {largest_text(comparison.components, comparison.largest)}\n"
    ]
    columns = (("ran on", "{where}"), ("ms", "{time}"), ("edges touched", "{edges:,}"), ("passes", "{passes:,}"))
    rows = comparison.document()["entries"]
    for row in rows:
        row["time"] = row["trouble"] or f"{row['milliseconds']:,.3f}"
    for simulated, first, last in (
        (False, "software, real time", f"speed-up over {_BASE}"),
        (True, "machine, simulated time", f"real time of {_BASE} / simulated time"),
    ):
        shown = [row for row in rows if row["simulated"] == simulated]
        if shown:
            named = [(first, "{name}"), *columns, (last, "{speed_up:.2f}")]
            if "area" in shown[0]:
                named += [("cycles", "{cycles:,}"), *((name, f"{{area[{name}]:,}}") for name in shown[0]["area"])]
            parts.append(column_table(named, shown, words=2, none="", plain=True))
    return "\n".join(parts)


def comparison_figure(comparisons: Sequence[AlgorithmComparison]) -> "Figure":
    """Return a chart of times on a logarithmic axis; simulated times have a marker and a label of their own.

    Parameters
    ----------
    comparisons : sequence of AlgorithmComparison
        One for each panel, from top to bottom.
    """
    heights = [1.0 + _ROW * len(comparison.entries) for comparison in comparisons]
    figure = new_figure(width=9, height=sum(heights) + 0.5)
    panels = figure.subplots(len(comparisons), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, comparison in zip(panels, comparisons, strict=True):
        _draw(axes, comparison)
    add_legend(figure, 2)
    return figure


def _draw(axes: "Axes", comparison: AlgorithmComparison) -> None:
    names = [entry.name for entry in comparison.entries]
    for simulated, colour, marker, label in (
        (False, BLUE, "o", "software: real time on this machine"),
        (True, ORANGE, "D", "machine: simulated time, cycles by its clock"),
    ):
        shown = [
            (row, entry)
            for row, entry in enumerate(comparison.entries)
            if entry.simulated == simulated and entry.milliseconds is not None
        ]
        if not shown:
            continue
        times = [entry.milliseconds or 0 for _, entry in shown]
        axes.plot(times, [row for row, _ in shown], color=colour, marker=marker, linestyle="none", label=label)
        for (row, _), milliseconds in zip(shown, times, strict=True):
            text = time_text(milliseconds)
            axes.annotate(text, (milliseconds, row), (7, 0), textcoords="offset points", va="center", fontsize=8)
    for row, entry in enumerate(comparison.entries):
        if entry.milliseconds is None:
            axes.text(0.01, row, entry.trouble or "", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    row_axis(axes, names)
    axes.set(xmargin=0.12, xlabel="time (ms)")
    log_axis(axes, "x")
    axes.tick_params(labelbottom=True)
    axes.set_title(
        f"{Path(comparison.graph).name}: {comparison.vertices:,} vertices, {comparison.edges:,} edges, "
        f"{comparison.components:,} components",
        fontsize=10,
        parse_math=False,
    )
