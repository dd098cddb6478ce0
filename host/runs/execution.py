"""Execution of a run, from its specification to the verified result."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.components import strong_components
from cyscc.host.driver.search import Checkpointer, breadth_first_search
from cyscc.host.driver.verification import check_graphs, check_stray_writes
from cyscc.host.graph.available_memory import check_available_memory, peak_memory
from cyscc.host.graph.csr import Graph, size_text, trim
from cyscc.host.graph.formats import read_graph
from cyscc.host.graph.memory_map import PlacedGraph, default_slack, simulation_bytes
from cyscc.host.graph.reference import canonical, check_components, check_levels
from cyscc.host.output.errors import locating_errors, refusing
from cyscc.host.output.progress import Progress, Step
from cyscc.host.output.text import count_text
from cyscc.host.runs.live import Live
from cyscc.host.runs.results import BfsResult, Result, SccResult, Wall
from cyscc.host.specification.run import RunSpec, Setting
from cyscc.sim.errors import OutputError, SimulationError
from cyscc.sim.notices import notice

if TYPE_CHECKING:
    from cyscc.host.runs.recorder import RunRecorder
    from cyscc.sim.machine import Machine

SOURCE_RULE = "lowest vertex with an out-edge"
"""Default source of a search: nearly always vertex 0, as in the published host program."""

MakeCheckpointer = Callable[["Session", "Machine", Sequence[PlacedGraph]], Checkpointer | None]
"""Callback that returns the checkpointer of a run, given its machine and the graphs placed there."""


def source_vertex(graph: Graph) -> int:
    """Return the default source of a search, by `SOURCE_RULE`."""
    return int(np.argmax(graph.out_degrees() > 0))


def check_result(difference: str | None) -> None:
    """Refuse a wrong result.

    Parameters
    ----------
    difference : str or None
        The error that the check found; None if the result is correct.

    Raises
    ------
    SimulationError
        The result is wrong.
    """
    if difference is not None:
        raise SimulationError(f"wrong result: {difference}")


@dataclass(kw_only=True)
class _Advance:
    """Progress of a simulation: vertices done, iterations or levels, cycles.

    Parameters
    ----------
    step : Step
        Step of the progress display.
    live : Live
        The run's lines for other programs.
    vertices : int
        Vertices of the graph.
    noun : str
        Unit of the count: iteration, level.
    aim : str
        Purpose of the simulation, shown first.
    cycle : int
        The current cycle.
    """

    step: Step
    live: Live
    vertices: int
    noun: str
    aim: str
    cycle: int

    def __post_init__(self) -> None:
        self._begin, self._first_cycle = time.monotonic(), self.cycle
        self._number = self._done = 0
        self._kept: int | None = None

    def on_cycle(self, cycle: int) -> None:
        """Update the simulated cycle."""
        self.cycle = cycle
        self._tell()
        self.live.on_cycle()

    def on_iteration(self, number: int, colours: npt.NDArray[Any]) -> None:
        """Update completed iterations and colours; vertices with a nonzero colour count as done."""
        self._number = number
        self.live.on_iteration(colours)
        if self.step.due:
            self._done = int(np.count_nonzero(colours))
            self._tell()

    def on_level(self, number: int, reached: int) -> None:
        """Update completed levels and entries reached, duplicates included."""
        self._number, self._done = number, min(reached, self.vertices)
        self._tell()

    def on_checkpoint(self, cycle: int) -> None:
        """Update the cycle of the last checkpoint."""
        self._kept = cycle
        self._tell()

    def _tell(self) -> None:
        if not self.step.due:
            return
        what = [self.aim] if self.aim else []
        what += [f"{self.noun} {self._number:,}"]
        if advanced := self.cycle - self._first_cycle:
            pace = advanced / max(time.monotonic() - self._begin, 1e-3)
            what += [f"cycle {self.cycle:,}", f"{pace:,.0f} cycles/s"]
        what += [f"{self._done:,} of {count_text(self.vertices, 'vertex')}"]
        if self._kept is not None:
            what += [f"checkpoint at cycle {self._kept:,}"]
        self.step(self._done, self.vertices, ", ".join(what))


@dataclass
class Session:
    """A run: its machine, progress display, and real time by phase.

    Parameters
    ----------
    spec : RunSpec
        The run. A search without a source starts by `SOURCE_RULE`.
    progress : Progress
        Progress display.
    graph : Graph, optional
        The graph; by default read from the file in the specification.
    aim : str
        Purpose of the simulation, for the progress display.
    make_checkpointer : callable, optional
        Returns the checkpointer of the run, which writes its checkpoints.
    seconds : float
        Simulation time of earlier processes of a resumed run.
    most_cycles : int, optional
        Cycles after which the run is given up; unlike its own limit no part of the run.
    record : Path, optional
        A temporary folder to record the run in, if its specification names none.
    on_failure : callable, optional
        Called with the recorder if the simulation fails.
    """

    spec: RunSpec
    progress: Progress
    graph: Graph | None = None
    _: KW_ONLY
    aim: str = ""
    make_checkpointer: MakeCheckpointer | None = None
    seconds: float = 0.0
    most_cycles: int | None = None
    record: Path | None = None
    on_failure: "Callable[[RunRecorder, SimulationError], None] | None" = None

    def __post_init__(self) -> None:
        self._seconds = {"load": 0.0, "simulate": self.seconds, "record": 0.0, "verify": 0.0}
        self._advance: _Advance | None = None

    @cached_property
    def live(self) -> Live:
        """The run's lines for other programs; raises `InputError` if their file cannot be opened."""
        return Live(self.spec)

    def execute(self) -> Result:
        """Execute the run.

        Raises
        ------
        InputError
            A graph or a folder cannot be used, or the machine does not exist.
        SimulationError
            The simulation failed, or its result is wrong.
        """
        folder = self.record if self.spec.record is None else Path(self.spec.record)
        with ExitStack() as stack:
            recorder = None
            if folder is not None:
                from cyscc.host.runs.recorder import RunRecorder

                recorder = stack.enter_context(closing(RunRecorder(self.spec, folder)))
            try:
                with self.live:
                    result = self._executed(recorder)
                    self.live.end(result)
                return result
            except SimulationError as error:
                if recorder is not None and self.on_failure is not None:
                    self.on_failure(recorder, error)
                raise

    def _executed(self, recorder: "RunRecorder | None") -> Result:
        spec = self.spec
        read = self.read_graph()
        algorithm = ALGORITHMS[spec.algorithm](spec, read)
        with self.machine() as machine:
            with self.phase("load", algorithm.placing):
                graph = read.simplified() if spec.simplify else read
                dropped = read.edges - graph.edges
                graphs = algorithm.place(machine, graph)
                graph = graphs[0].graph
                if not dropped or not spec.verify:
                    read = graph
            made = None if self.make_checkpointer is None else self.make_checkpointer(self, machine, graphs)
            checkpointer = made or Checkpointer()
            self.live.begin(machine, checkpointer, graph.vertices)
            if recorder is not None:
                recorder.start(machine, graph, algorithm.source, checkpointer)
            with self.simulating(machine, graph.vertices, algorithm.noun) as advance:
                algorithm.run(
                    machine, graphs, advance, slack=spec.queue_slack, checkpointer=checkpointer, observer=recorder
                )
            statistics = machine.statistics()
            if recorder is not None:
                with self.phase("record", "recording"):
                    recorder.finish()
            checked = None
            with self.phase("verify", "verifying"):
                check_stray_writes(machine)
                if spec.verify:
                    checked = replace(check_graphs(machine, graphs), reference=algorithm.reference)
                    check_result(algorithm.difference(read))
            setting = Setting(
                spec=spec,
                vertices=graph.vertices,
                edges=graph.edges + dropped,
                dropped_edges=dropped if spec.simplify else None,
                clock_hz=machine.clock,
                uploaded_bytes=sum(each.size for each in graphs),
            )
            result = algorithm.result(
                graph=graph, setting=setting, wall=self.wall(machine), checked=checked, statistics=statistics
            )
        return result if recorder is None else recorder.complete(result)

    @contextmanager
    def phase(self, name: str, what: str) -> Iterator[Step]:
        """Show the block as a step, and add its time to a phase: load, simulate, record or verify."""
        begin = time.perf_counter()
        with self.progress.step(what) as step:
            yield step
        self._seconds[name] += time.perf_counter() - begin

    def read_graph(self) -> Graph:
        """Return the given graph, or read it from the file in the specification.

        Raises
        ------
        InputError
            It cannot be read, is not a graph, or its simulation needs more memory than is available.
        """
        spec, graph = self.spec, self.graph
        if graph is None:
            with self.phase("load", "reading") as step:
                graph = read_graph(spec.graph, undirected=spec.undirected, watch=step, on_note=notice)
        elif spec.undirected:
            with locating_errors(path=spec.graph):
                graph = graph.mirrored()
        slack = default_slack(graph.vertices) if spec.queue_slack is None else spec.queue_slack
        needed = simulation_bytes(
            graph.vertices,
            graph.edges,
            directions=ALGORITHMS[spec.algorithm].directions,
            capacity=spec.configuration.queue_entries(graph.vertices, graph.edges) + slack,
            verify=spec.verify,
        )
        with locating_errors(path=spec.graph):
            check_available_memory(f"simulated, {size_text(graph.vertices, graph.edges)}", needed)
        return graph

    @contextmanager
    def simulating(self, machine: "Machine", vertices: int, noun: str) -> Iterator[_Advance]:
        """Show and time the simulation in the block; the caller connects the callbacks of the `_Advance` it yields."""
        with self.phase("simulate", "simulating") as step:
            self._advance = _Advance(
                step=step, live=self.live, vertices=vertices, noun=noun, aim=self.aim, cycle=machine.cycle
            )
            yield self._advance
            self._advance = None

    def _on_cycle(self, cycle: int) -> None:
        if self._advance is not None:
            self._advance.on_cycle(cycle)

    def on_checkpoint(self, cycle: int) -> None:
        """Show that a checkpoint was written."""
        if self._advance is not None:
            self._advance.on_checkpoint(cycle)

    @contextmanager
    def machine(self) -> "Iterator[Machine]":
        """Build the machine and close it at the end of the block, also after an error.

        Raises
        ------
        SimulationError
            It could not be built.
        InputError
            The machine does not exist, or its waveforms cannot be written.
        """
        from cyscc.sim.machine import create_machine

        spec = self.spec
        limits = [each for each in (spec.cycle_limit, self.most_cycles) if each is not None]
        with refusing(OutputError), ExitStack() as stack:
            with refusing(ValueError), self.progress.step("building the executor") as step:
                machine = create_machine(
                    spec.configuration,
                    spec.profile,
                    executor=spec.executor,
                    threads=spec.threads,
                    cycle_limit=min(limits, default=None),
                    waves=None if spec.waves is None else Path(spec.waves),
                    wave_window=spec.wave_window,
                    scopes=spec.scopes,
                    wave_view=spec.wave_view,
                    on_progress=self._on_cycle,
                    on_build=step,
                )
            # Also after an error: the waveforms of a failed simulation are wanted most.
            stack.push(partial(self._close, machine))
            yield machine

    def _close(self, machine: "Machine", error: type[BaseException] | None, *_: object) -> None:
        """Close the machine, which completes its waveforms; print a notice if the run ended before their window."""
        with self.progress.step("closing"):
            cycles = machine.cycle
            machine.close()
        first = (self.spec.wave_window or (-1, 0))[0]
        refused = error is not None and not issubclass(error, SimulationError)
        if cycles <= first and not refused:
            notice(
                f"--wave-window begins at cycle {first:,}, and the run had {cycles:,}: {self.spec.waves} is not written"
            )

    def wall(self, machine: "Machine") -> Wall:
        """Return the real time so far, with the simulation time of earlier processes."""
        return Wall(
            **self._seconds,
            build=machine.build_seconds,
            simulated_cycles=machine.cycle,
            peak_memory_bytes=peak_memory(),
        )


class _Search:
    """A search, on a machine.

    Parameters
    ----------
    spec : RunSpec
        The run.
    read : Graph
        The graph as read.

    Attributes
    ----------
    source : int
        Vertex at which it begins.
    """

    directions, noun, placing, reference = 1, "level", "placing", "sequential search"

    def __init__(self, spec: RunSpec, read: Graph) -> None:
        self.source = source_vertex(read) if spec.source is None else read.index(spec.source)

    def place(self, machine: "Machine", graph: Graph) -> tuple[PlacedGraph, ...]:
        """Place the graph on the machine, in every direction that the algorithm needs."""
        return (PlacedGraph.place(machine, graph),)

    def run(self, machine: "Machine", graphs: Sequence[PlacedGraph], advance: _Advance, **options: Any) -> None:
        """Run the algorithm on the machine, with `DriverOptions`."""
        self._found = breadth_first_search(machine, graphs[0], self.source, on_level=advance.on_level, **options)

    def difference(self, read: Graph) -> str | None:
        """Return the first difference between the result and that of `reference`; None if there is none."""
        return check_levels(self._found.levels, read, self.source)

    def result(self, **common: Any) -> Result:
        """Return the result, given the parameters that all results have."""
        return BfsResult(**common, run=self._found)


class _Components:
    """Finding components, on a machine. Takes the parameters of `_Search`, and has its methods."""

    directions, noun, placing = 2, "iteration", "transposing, trimming and placing"
    reference = "depth-first search"
    source = 0

    def __init__(self, spec: RunSpec, read: Graph) -> None:
        pass

    def place(self, machine: "Machine", graph: Graph) -> tuple[PlacedGraph, ...]:
        """See `_Search`."""
        transpose = graph.transpose()
        self._trimmed = trim(graph, transpose)
        return PlacedGraph.place(machine, graph), PlacedGraph.place(machine, transpose, name="transpose")

    def run(self, machine: "Machine", graphs: Sequence[PlacedGraph], advance: _Advance, **options: Any) -> None:
        """See `_Search`."""
        self._found = strong_components(
            machine, graphs[0], graphs[1], self._trimmed, on_iteration=advance.on_iteration, **options
        )
        self._labels = canonical(self._found.colours)

    def difference(self, read: Graph) -> str | None:
        """See `_Search`."""
        return check_components(self._labels, read)

    def result(self, **common: Any) -> Result:
        """See `_Search`."""
        return SccResult(**common, run=self._found, labels=self._labels)


ALGORITHMS: Mapping[str, type[_Search] | type[_Components]] = {"bfs": _Search, "scc": _Components}
"""What a run of each algorithm does with a machine, by its command."""
