"""Comparison of software on this machine and simulated machines, on one graph."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from host.algorithms.names import KINDS
from host.algorithms.software import Setting, run_software
from host.algorithms.verification import canonical, component_matrix, component_sizes, matrix_components
from host.devices import open_device
from host.devices.steps import Order
from host.graph.csr import Graph
from host.graph.formats import read_graph
from host.measuring.software import GivenUpError, quickest
from host.progress import Progress
from host.results.plots import BLUE, ORANGE, add_legend, new_figure, time_text
from host.results.table_text import column_table, graph_text, largest_text
from host.runs.execution import execute
from host.runs.results import SccResult
from host.runs.specification import RunSpec
from host.words import place
from sim.errors import SimulationError
from sim.notices import notice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Contenders", "Entry", "comparison_figure", "comparison_text", "scipy_entry"]

_BASE = "tarjan"
"""The algorithm that speed-ups are over, as in most papers."""

SCIPY = "scipy"
"""Name of scipy's own search, which also checks the others."""


_BAR = 0.3
"""Inches of a bar."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One algorithm or machine on one graph.

    Parameters
    ----------
    name : str
        Of the algorithm, or of the machine's configuration.
    simulated : bool
        Whether `milliseconds` are cycles of a simulated machine by its clock, and not real time.
    where : str
        What it ran on.
    milliseconds : float or None
        Its time; None where it was given up.
    edges, passes : int or None
        Edges looked at, and rounds that waited for the one before; None where it does not count them.
    cycles : int or None
        Cycles, of a simulated machine.
    counts : mapping
        All that it counts.
    trouble : str or None
        Why there is no time; None where there is one.
    """

    name: str
    simulated: bool
    where: str
    milliseconds: float | None = None
    edges: int | None = None
    passes: int | None = None
    cycles: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    trouble: str | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All entries on a graph.

    Parameters
    ----------
    graph : str
        The graph's file, as given.
    vertices, edges, components, largest : int
        Its size, its components, and the vertices of the largest one.
    entries : tuple of Entry
        Software first.
    """

    graph: str
    vertices: int
    edges: int
    components: int
    largest: int
    entries: tuple[Entry, ...]

    @property
    def base(self) -> float | None:
        """Milliseconds of the algorithm that speed-ups are over; None where it did not run."""
        return next((entry.milliseconds for entry in self.entries if entry.name == _BASE), None)

    def speed_up(self, entry: Entry) -> float | None:
        """Return how many times as fast an entry is as the base; None where either has no time.

        Of a simulated machine this is real time of this machine over simulated time.
        """
        if self.base is None or not entry.milliseconds:
            return None
        return self.base / entry.milliseconds

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document."""
        return {
            "graph": {"file": self.graph, "vertices": self.vertices, "edges": self.edges},
            "components": {"count": self.components, "largest": self.largest},
            "entries": [{**asdict(entry), "speed_up": self.speed_up(entry)} for entry in self.entries],
        }


def scipy_entry(graph: Graph, *, runs: int) -> tuple[Entry, NDArray[np.uint32]]:
    """Time scipy's search, on a matrix that is there, and return its components for the others to be checked by.

    Parameters
    ----------
    graph : Graph
        The graph.
    runs : int
        How many times; the best counts.

    Returns
    -------
    entry : Entry
    labels : ndarray of uint32, shape (n,)
        Canonical.
    """
    matrix = component_matrix(graph)
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        labels = matrix_components(matrix)
        seconds.append(time.perf_counter() - begin)
    return Entry(name=SCIPY, simulated=False, where="1 thread", milliseconds=min(seconds) * 1e3), canonical(labels)


@dataclass(frozen=True, kw_only=True)
class Contenders:
    """Contenders of a comparison, and how they run.

    Parameters
    ----------
    algorithms : tuple of str
        Software: `SCIPY`, and names of `host.algorithms.names.KINDS`.
    machines : tuple of RunSpec
        Machines to simulate, and whether their results are checked.
    device : str
        Where algorithms run that are made of steps.
    order : Order
        In which the threads of those run.
    threads, seed : int
        Threads that an algorithm may use; seed of what it draws.
    runs : int
        How many times software runs; the best counts, with what that run counted.
    limit : float
        Seconds after which an algorithm made of steps is given up, and there are no more runs of the others.
    verify : bool
        Whether software is checked, by scipy.
    """

    algorithms: tuple[str, ...] = ()
    machines: tuple[RunSpec, ...] = ()
    device: str
    order: Order
    threads: int
    seed: int
    runs: int
    limit: float
    verify: bool = True

    def compare(self, path: str, progress: Progress) -> Comparison:
        """Compare everything on the graph of a file.

        Parameters
        ----------
        path : str
            The file.
        progress : Progress
            What shows how far it is.

        Raises
        ------
        InputError, SimulationError
            The file cannot be read; a simulation failed, or a result is wrong.
        """
        with progress.step(f"{path}: reading") as step:
            graph: Graph = read_graph(path, watch=step, on_note=notice)
        with progress.step(f"{path}: transposing"):
            transpose = graph.transpose()
        with progress.step(f"{path}: scipy"):
            scipy, labels = scipy_entry(graph, runs=self.runs)
        entries = [scipy] if SCIPY in self.algorithms else []
        for name in self.algorithms:
            if name != SCIPY:
                with progress.step(f"{path}: {name}") as step:
                    entries.append(self.timed(name, graph, transpose, labels, step))
        entries += [_machine_entry(replace(spec, graph=path), graph, progress) for spec in self.machines]
        sizes = component_sizes(labels)[1]
        return Comparison(
            graph=path,
            vertices=graph.vertices,
            edges=graph.edges,
            components=int(sizes.size),
            largest=int(sizes.max()),
            entries=tuple(entries),
        )

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
            The components, canonical.
        watch : callable
            Told how far it is.

        Raises
        ------
        SimulationError
            It found other components.
        """
        kind, limit = KINDS[name], self.limit
        where, threads = self.device if kind.devices else "cpu", self.threads if kind.threads else 1
        with open_device(where, threads=threads, order=self.order) as device:
            entry = Entry(name=name, simulated=False, where=place(device.name, device.threads))
            begin = time.monotonic()

            def watched(done: int, total: int) -> None:
                if time.monotonic() - begin > limit:
                    raise GivenUpError
                watch(done, total)

            setting = Setting(device=device, seed=self.seed, watch=watched)
            try:
                best, _ = quickest(lambda: run_software(name, graph, transpose, setting), runs=self.runs, limit=limit)
            except GivenUpError:
                return replace(entry, trouble=f"given up after {limit:g} s")
        if self.verify and not np.array_equal(best.found.labels, expected):
            vertex = graph.original(np.array([(best.found.labels != expected).argmax()]))[0]
            raise SimulationError(f"wrong result: {name}: vertex {vertex} is in another component than by scipy")
        edges, passes = (best.found.counts.get(what) for what in ("edges", "passes"))
        return replace(entry, milliseconds=best.seconds * 1e3, edges=edges, passes=passes, counts=best.found.counts)


def _machine_entry(spec: RunSpec, graph: Graph, progress: Progress) -> Entry:
    """Find the components on a simulated machine; a pass is a level of a search, or an intersection."""
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


def comparison_text(comparison: Comparison) -> str:
    """Return a graph's tables: software, whose time is real, then simulated machines, whose time is not."""
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
            named = ((first, "{name}"), *columns, (last, "{speed_up:.2f}"))
            parts.append(column_table(named, shown, words=2, none="", plain=True))
    return "\n".join(parts)


def comparison_figure(comparisons: Sequence[Comparison]) -> "Figure":
    """Return a figure: times on a logarithmic axis, simulated ones hatched and named so.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One for each panel, from top to bottom.
    """
    heights = [1.0 + _BAR * len(comparison.entries) for comparison in comparisons]
    figure = new_figure(width=9, height=sum(heights) + 0.5)
    panels = figure.subplots(len(comparisons), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, comparison in zip(panels, comparisons, strict=True):
        _draw(axes, comparison)
    add_legend(figure, 2)
    return figure


def _draw(axes: "Axes", comparison: Comparison) -> None:
    names = [entry.name for entry in comparison.entries]
    for simulated, colour, hatch, label in (
        (False, BLUE, "", "software: real time on this machine"),
        (True, ORANGE, "///", "machine: simulated time, cycles by its clock"),
    ):
        shown = [
            (row, entry)
            for row, entry in enumerate(comparison.entries)
            if entry.simulated == simulated and entry.milliseconds is not None
        ]
        if not shown:
            continue
        bars = axes.barh(
            [row for row, _ in shown],
            [entry.milliseconds or 0 for _, entry in shown],
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=label,
        )
        axes.bar_label(bars, [time_text(entry.milliseconds or 0) for _, entry in shown], padding=3, fontsize=8)
    for row, entry in enumerate(comparison.entries):
        if entry.milliseconds is None:
            axes.text(0.01, row, entry.trouble or "", transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xscale="log", xmargin=0.12, xlabel="time (ms)", axisbelow=True)
    axes.tick_params(labelbottom=True)
    axes.grid(axis="x", color="0.85")
    axes.set_title(
        f"{Path(comparison.graph).name}: {comparison.vertices:,} vertices, {comparison.edges:,} edges, "
        f"{comparison.components:,} components",
        fontsize=10,
    )
