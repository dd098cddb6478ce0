"""Execution of a run, from its specification to the verified result."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cyscc.host.driver.components import strong_components
from cyscc.host.driver.search import Checkpointer, breadth_first_search
from cyscc.host.driver.verification import check_graphs, check_stray_writes
from cyscc.host.graph.available_memory import check_available_memory, peak_memory
from cyscc.host.graph.csr import Graph, graph_digest, size_text, trim
from cyscc.host.graph.formats import read_graph
from cyscc.host.graph.memory_map import PlacedGraph, default_slack, simulation_bytes
from cyscc.host.graph.reference import canonical, check_components, check_levels
from cyscc.host.output.documents import write_sealed
from cyscc.host.output.errors import InputError, locating_errors
from cyscc.host.output.progress import Progress, Step
from cyscc.host.output.text import count_text
from cyscc.host.record.writer import RecordFolder
from cyscc.host.runs.live import Live
from cyscc.host.runs.results import BfsResult, Result, SccResult, Wall, input_name
from cyscc.host.specification.run import RECORD_INTERVAL, RunSpec, Setting
from cyscc.sim.errors import OutputError, SimulationError
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.notices import notice

if TYPE_CHECKING:
    from cyscc.host.runs.recorder import RunRecorder
    from cyscc.sim.machine import Machine

__all__ = ["SOURCE_RULE", "MakeCheckpointer", "RecordedRun", "Session", "check_result", "execute", "source_vertex"]

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


class _Advance:
    """Progress of a simulation: vertices done, iterations or levels, cycles.

    Parameters
    ----------
    step : Step
        Step of the progress display.
    vertices : int
        Vertices of the graph.
    noun : str
        Unit of the count: iteration, level.
    cycle : int
        Cycle at the start.
    aim : str
        Purpose of the simulation, shown first.
    live : Live
        The run's lines for other programs.
    """

    def __init__(self, step: Step, *, vertices: int, noun: str, cycle: int, aim: str, live: Live) -> None:
        self._step = step
        self._live = live
        self._vertices = vertices
        self._noun = noun
        self._begin = time.monotonic()
        self._first_cycle = self._cycle = cycle
        self._number = self._done = 0
        self._kept: int | None = None
        self._aim = aim

    def on_cycle(self, cycle: int) -> None:
        """Update the simulated cycle."""
        self._cycle = cycle
        self._tell()
        self._live.on_cycle()

    def on_iteration(self, number: int, colours: npt.NDArray[Any]) -> None:
        """Update completed iterations and colours; vertices with a nonzero colour count as done."""
        self._number = number
        self._live.on_iteration(colours)
        if self._step.due:
            self._done = int(np.count_nonzero(colours))
            self._tell()

    def on_level(self, number: int, reached: int) -> None:
        """Update completed levels and entries reached, duplicates included."""
        self._number, self._done = number, min(reached, self._vertices)
        self._tell()

    def on_checkpoint(self, cycle: int) -> None:
        """Update the cycle of the last checkpoint."""
        self._kept = cycle
        self._tell()

    def _tell(self) -> None:
        if not self._step.due:
            return
        what = [self._aim] if self._aim else []
        what += [f"{self._noun} {self._number:,}"]
        advanced = self._cycle - self._first_cycle
        if advanced:
            pace = advanced / max(time.monotonic() - self._begin, 1e-3)
            what += [f"cycle {self._cycle:,}", f"{pace:,.0f} cycles/s"]
        what += [f"{self._done:,} of {count_text(self._vertices, 'vertex')}"]
        if self._kept is not None:
            what += [f"checkpoint at cycle {self._kept:,}"]
        self._step(self._done, self._vertices, ", ".join(what))


class Session:
    """A run in progress: its machine, progress display, and real time by phase.

    Parameters
    ----------
    spec : RunSpec
        The run.
    progress : Progress
        Progress display.
    graph : Graph, optional
        The graph; by default read from the file in the specification.
    aim : str
        Purpose of the simulation, for the progress display.
    seconds : float
        Simulation time of earlier processes of a resumed run.
    most_cycles : int, optional
        Cycles after which the run is given up; unlike its own limit no part of the run.

    Attributes
    ----------
    spec : RunSpec
    live : Live
        The run's lines for other programs.

    Raises
    ------
    InputError
        The file of these lines cannot be opened.
    """

    def __init__(
        self,
        spec: RunSpec,
        progress: Progress,
        graph: Graph | None = None,
        *,
        aim: str = "",
        seconds: float = 0.0,
        most_cycles: int | None = None,
    ) -> None:
        self.spec = spec
        self.live = Live(spec)
        self._progress = progress
        self._graph = graph
        self._aim = aim
        self._limits = [each for each in (spec.cycle_limit, most_cycles) if each is not None]
        self._seconds = {"load": 0.0, "simulate": seconds, "record": 0.0, "verify": 0.0}
        self._advance: _Advance | None = None

    @contextmanager
    def phase(self, name: str, what: str) -> Iterator[Step]:
        """Show the block as a step, and add its time to a phase: load, simulate, record or verify."""
        begin = time.perf_counter()
        with self._progress.step(what) as step:
            yield step
        self._seconds[name] += time.perf_counter() - begin

    def read_graph(self) -> Graph:
        """Return the given graph, or read it from the file in the specification.

        Raises
        ------
        InputError
            It cannot be read, is not a graph, or its simulation needs more memory than is available.
        """
        spec, graph = self.spec, self._graph
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
            directions=2 if spec.algorithm == "scc" else 1,
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
                step, vertices=vertices, noun=noun, cycle=machine.cycle, aim=self._aim, live=self.live
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
        try:
            with self._machine() as machine:
                yield machine
        except OutputError as error:
            raise InputError(str(error)) from None

    @contextmanager
    def _machine(self) -> "Iterator[Machine]":
        from cyscc.sim.machine import create_machine

        spec = self.spec
        with ExitStack() as stack:
            try:
                with self._progress.step("building the executor") as step:
                    machine = create_machine(
                        spec.configuration,
                        spec.profile,
                        executor=spec.executor,
                        threads=spec.threads,
                        cycle_limit=min(self._limits, default=None),
                        waves=spec.waves_path,
                        wave_window=spec.wave_window,
                        scopes=spec.scopes,
                        wave_view=spec.wave_view,
                        on_progress=self._on_cycle,
                        on_build=step,
                    )
            except ValueError as error:
                raise InputError(str(error)) from None
            # Also after an error: the waveforms of a failed simulation are wanted most.
            stack.push(partial(self._close, machine))
            yield machine

    def _close(self, machine: "Machine", error: type[BaseException] | None, *_: object) -> None:
        """Close the machine, which completes its waveforms; print a notice if the run ended before their window."""
        with self._progress.step("closing"):
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


class RecordedRun:
    """Records a run.

    Parameters
    ----------
    spec : RunSpec
        The run and the record's folder; without a folder, the table of instructions is recorded in memory.

    Attributes
    ----------
    spec : RunSpec

    Raises
    ------
    InputError
        The folder cannot be used.
    """

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self._folder = None if spec.record is None else Path(spec.record)
        self._interval = LONGEST_INTERVAL if spec.record is None else spec.record_interval or RECORD_INTERVAL
        self._recorder: RunRecorder | None = None
        self._machine: Machine | None = None
        self._run: dict[str, Any] = {}
        self._complete = False
        self._lock = None if self._folder is None else RecordFolder(self._folder, resumed=spec.resume is not None)

    @property
    def folder(self) -> Path:
        """The record's folder; only for a record on disk."""
        assert self._folder is not None, "the record is in memory"
        return self._folder

    def begin(self, machine: "Machine", graph: Graph, source: int, checkpointer: Checkpointer) -> "RunRecorder":
        """Start recording a machine on which nothing has run yet.

        Raises
        ------
        InputError
            The machine is too large, or the length of the intervals is not supported; the parts of a resumed run's
            record are damaged.
        """
        from cyscc.host.record.document import SettingDocument, check_setting
        from cyscc.host.runs.environment import run_environment
        from cyscc.host.runs.recorder import RecorderState, RunRecorder, setting_document

        options = {**self.spec.document(), "threads": self.spec.threads, "source": None}
        if self.spec.algorithm == "bfs":
            options["source"] = input_name(graph, source)
        self._run = {
            "command": self.spec.algorithm,
            "run": {
                "graph": self.spec.graph,
                "folder": str(Path.cwd()),
                "digest": graph_digest(graph),
                "vertices": graph.vertices,
                "edges": graph.edges,
                "options": options,
            },
            "interval": self._interval,
            "environment": run_environment(),
        }
        state = checkpointer.restored("record", RecorderState, RecorderState.check)
        about = setting_document(machine, self._run)
        try:
            check_setting(about, SettingDocument)
        except ValueError as error:
            raise InputError(f"cannot be recorded: {error} (--record)", path=self._folder) from None
        try:
            recorder = RunRecorder(machine, self._folder, interval=self._interval, about=about, state=state)
        except ValueError as error:
            raise InputError(f"--record-interval: {error}") from None
        checkpointer.register("record", recorder.state, refresh=recorder.catch_up)
        self._recorder, self._machine = recorder, machine
        return recorder

    def failed(self, error: SimulationError) -> bool:
        """Write what a replay of the failed run needs to the folder; return whether recording had started."""
        if self._machine is None:
            return False
        from cyscc.host.record.document import FAILURE
        from cyscc.host.runs.recorder import failure_document

        document = failure_document(
            self._machine,
            error,
            run=self._run,
            checkpoint=self.spec.checkpoint,
        )
        write_sealed(self.folder / FAILURE, document)
        return True

    def finish(self) -> None:
        """Write the tables up to the machine's current cycle."""
        if self._recorder is not None:
            self._recorder.finish()

    def complete(self, machine: "Machine", result: Result) -> Result:
        """Write the record's document, which includes the result's; return the result with its record attached."""
        from cyscc.host.record.document import DOCUMENT
        from cyscc.host.record.reader import Record
        from cyscc.host.runs.recorder import setting_document

        assert self._recorder is not None
        if self._folder is None:
            assert self._recorder.state.memory is not None
            about = setting_document(machine, self._run)
            return replace(result, record=Record.in_memory(about, self._recorder.state.memory))
        write_sealed(self._folder / DOCUMENT, self._recorder.document(self._run, result.document()))
        self._complete = True
        return replace(result, record=Record(self.folder))

    def close(self) -> None:
        """Release the folder; remove an incomplete record, unless a checkpoint refers to it."""
        if self._recorder is not None:
            self._recorder.close()
        if self._lock is not None:
            begun = self._recorder is not None or self.spec.resume is not None
            resumable = self.spec.checkpoint is not None and begun
            if self._complete or not resumable:
                self._lock.clear(complete=self._complete, resumable=resumable)
            self._lock.close()


def execute(
    spec: RunSpec,
    progress: Progress,
    *,
    graph: Graph | None = None,
    aim: str = "",
    make_checkpointer: MakeCheckpointer | None = None,
    seconds: float = 0.0,
    most_cycles: int | None = None,
    on_failure: Callable[[RecordedRun, SimulationError], None] | None = None,
) -> Result:
    """Execute a run.

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
    on_failure : callable, optional
        Called with the `RecordedRun` if the simulation fails.

    Raises
    ------
    InputError
        A graph or a folder cannot be used, or the machine does not exist.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    with ExitStack() as stack:
        recording = stack.enter_context(closing(RecordedRun(spec))) if spec.recorded else None
        try:
            session = Session(spec, progress, graph, aim=aim, seconds=seconds, most_cycles=most_cycles)
            with session.live:
                result = _execute(session, recording, make_checkpointer)
                session.live.end(result)
            return result
        except SimulationError as error:
            if recording is not None and spec.record is not None and on_failure is not None:
                on_failure(recording, error)
            raise


def _execute(session: Session, recording: RecordedRun | None, make_checkpointer: MakeCheckpointer | None) -> Result:
    spec = session.spec
    search = spec.algorithm == "bfs"
    read = session.read_graph()
    source = (source_vertex(read) if spec.source is None else read.index(spec.source)) if search else 0
    with session.machine() as machine:
        with session.phase("load", "placing" if search else "transposing, trimming and placing"):
            graph = read.simplified() if spec.simplify else read
            dropped = read.edges - graph.edges
            if search:
                graphs: tuple[PlacedGraph, ...] = (PlacedGraph.place(machine, graph),)
            else:
                transpose = graph.transpose()
                trimmed = trim(graph, transpose)
                forward = PlacedGraph.place(machine, graph)
                graphs = forward, PlacedGraph.place(machine, transpose, name="transpose")
                del transpose
            graph = graphs[0].graph
            if not dropped or not spec.verify:
                read = graph
        made = None if make_checkpointer is None else make_checkpointer(session, machine, graphs)
        checkpointer = made or Checkpointer()
        session.live.begin(machine, checkpointer, graph.vertices)
        observer = None if recording is None else recording.begin(machine, graph, source, checkpointer)
        how: dict[str, Any] = {"slack": spec.queue_slack, "checkpointer": checkpointer, "observer": observer}
        with session.simulating(machine, graph.vertices, "level" if search else "iteration") as advance:
            if search:
                found = breadth_first_search(machine, graphs[0], source, on_level=advance.on_level, **how)
            else:
                components = strong_components(
                    machine, graphs[0], graphs[1], trimmed, on_iteration=advance.on_iteration, **how
                )
                labels = canonical(components.colours)
        statistics = machine.statistics()
        if recording is not None:
            with session.phase("record" if spec.record is not None else "simulate", "recording"):
                recording.finish()
        checked = None
        with session.phase("verify", "verifying"):
            check_stray_writes(machine)
            if spec.verify:
                checked = check_graphs(machine, graphs)
                check_result(check_levels(found.levels, read, source) if search else check_components(labels, read))
                checked = replace(checked, reference="sequential search" if search else "depth-first search")
        setting = Setting(
            spec=spec,
            vertices=graph.vertices,
            edges=graph.edges + dropped,
            dropped_edges=dropped if spec.simplify else None,
            clock_hz=machine.clock,
            uploaded_bytes=sum(each.size for each in graphs),
        )
        common: dict[str, Any] = {
            "graph": graph,
            "setting": setting,
            "wall": session.wall(machine),
            "checked": checked,
            "statistics": statistics,
        }
    result: Result = BfsResult(**common, run=found) if search else SccResult(**common, run=components, labels=labels)
    return result if recording is None else recording.complete(machine, result)
