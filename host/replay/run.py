"""Making a run again: from its beginning, or from a checkpoint."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from host.checkpoints.checkpoints import Checkpoints
from host.errors import InputError
from host.graph.csr import Graph
from host.interval import Interval
from host.progress import Progress
from host.replay.finding import Span
from host.replay.point import Point
from host.replay.search import Search
from host.replay.signs import sign_of
from host.replay.source import Source
from host.replay.window import MissedError, Reached, Window
from host.running.bfs import run_bfs
from host.running.scc import run_scc
from host.running.session import Session
from sim.errors import SimulationError

if TYPE_CHECKING:
    from host.checkpoints.folder import Checkpoint
    from host.graph.memory_map import PlacedGraph
    from sim.executors.base import Executor
    from sim.machine import Machine

__all__ = ["Replay"]

Watch = Callable[[Session, "Machine", Sequence["PlacedGraph"]], None]


class Replay:
    """A run that is made again, as often as need be.

    Parameters
    ----------
    source : Source
        What it was made of.
    progress : Progress
        Shows how far it is.
    checkpoint : Checkpoint, optional
        Where to go on from, if that is before what is wanted.

    Raises
    ------
    InputError
        The graph cannot be read; the checkpoint is of another run.
    """

    def __init__(self, source: Source, progress: Progress, checkpoint: "Checkpoint | None" = None) -> None:
        self.source = source
        self._progress = progress
        self._checkpoint = checkpoint
        self._graph: Graph | None = None

    def make(self, watch: Watch, *, by: int, aim: str) -> None:
        """Make the run, to its end or as far as it is watched.

        Parameters
        ----------
        watch : callable
            Called with session, machine and graphs before anything is simulated. It ends the run by `Reached`.
        by : int
            Cycle from which on it is watched.
        aim : str
            What progress says.

        Raises
        ------
        InputError
            The graph is another one.
        SimulationError
            The run failed.
        """
        source = self.source
        if self._graph is None:
            directions = 2 if source.command == "scc" else 1
            self._graph = Session(source.options, self._progress).read_graph(directions=directions)
        session = Session(source.options, self._progress, self._graph)
        session.tell(aim)

        def keep(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> Checkpoints | None:
            source.check_graph(graphs[0].graph)
            watch(session, machine, graphs)
            return self._keeper(machine, graphs, by)

        try:
            if source.command == "scc":
                run_scc(session, keep=keep)
            else:
                vertex = source.vertex
                assert vertex is not None
                run_bfs(session, lambda graph: graph.index(vertex), keep=keep)
        except Reached:
            return

    def _keeper(self, machine: "Machine", graphs: Sequence["PlacedGraph"], by: int) -> Checkpoints | None:
        """Return what brings the machine to the checkpoint, if that helps."""
        checkpoint = self._checkpoint
        if checkpoint is None or checkpoint.about["cycle"] > by:
            return None
        return Checkpoints(
            machine,
            None,
            every=Interval(seconds=60.0),
            about=dict,
            without=[graph.neighbours_address for graph in graphs],
            on_written=lambda cycle: None,
            on_failure=lambda line: None,
            resumed=checkpoint,
        )

    def locate(self, point: Point, spans: Sequence[Span]) -> int | None:
        """Return the cycle of an event in some spans of cycles, None if it is in none of them.

        Raises
        ------
        InputError, SimulationError
            As of `make`.
        """
        searches: list[Search] = []

        def watch(session: Session, machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            searches.append(
                Search(
                    machine,
                    spans,
                    sign_of(point, machine),
                    executor=self.source.options.executor,
                    without=[graph.neighbours_address for graph in graphs],
                )
            )

        self.make(watch, by=spans[0].start, aim=f"looking for {point} from cycle {spans[0].first:,} on")
        return searches[0].cycle

    def record(self, path: Path, *, first: int, last: int, by: int, executor: str) -> None:
        """Write the waveforms of a window.

        Parameters
        ----------
        path : Path
            The file.
        first, last : int
            First and last cycle of the window; the run may end before the last.
        by : int
            Cycle within an instruction, not after `first`, by which the executor with waveforms goes on.
        executor : str
            What executes the window.

        Raises
        ------
        InputError, SimulationError
            As of `make`.
        """
        while True:
            try:
                self._record(path, first=first, last=last, by=by, executor=executor)
                return
            except MissedError as missed:
                by = missed.meeting

    def _record(self, path: Path, *, first: int, last: int, by: int, executor: str) -> None:
        windows: list[Window] = []

        def watch(session: Session, machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            made = self._waving(session, machine, path, (first, last), executor)
            windows.append(
                Window(
                    machine,
                    first=first,
                    last=last,
                    by=by,
                    make=lambda memory: made,
                    on_begin=lambda cycle: session.tell(f"recording up to cycle {last:,}"),
                )
            )

        try:
            self.make(watch, by=by, aim=f"on the way to cycle {first:,}")
        except SimulationError:
            # A window of a run that fails may well end with that.
            if not (windows and windows[0].begun):
                raise
        if not windows[0].begun:
            raise InputError(f"the run has no cycle {first:,}", path=self.source.folder)

    def _waving(
        self, session: Session, machine: "Machine", path: Path, window: tuple[int, int], executor: str
    ) -> "Executor":
        """Return an executor with waveforms for a machine's memory."""
        from sim.executors.creation import create_executor

        with session.progress.step("building the executor with waveforms") as step:
            return create_executor(
                executor, machine.config, machine.memory, waves=path, wave_window=window, on_build=step
            )
