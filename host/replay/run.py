"""Making a run again: from its beginning, or from a checkpoint."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from host.checkpoints.checkpoints import Checkpoints
from host.checkpoints.interval import Interval
from host.graph.csr import Graph
from host.progress import Progress
from host.replay.finding import Span
from host.replay.point import Point
from host.replay.search import Search
from host.replay.signs import sign_of
from host.replay.source import Source
from host.replay.window import Reached, stop_behind
from host.runs.execution import Session, execute
from host.runs.specification import RunSpec
from sim.errors import SimulationError

if TYPE_CHECKING:
    from host.checkpoints.folder import Checkpoint
    from host.graph.memory_map import PlacedGraph
    from sim.machine import Machine

__all__ = ["Replay", "Waveforms"]

Watch = Callable[["Machine", Sequence["PlacedGraph"]], None]


@dataclass(frozen=True, kw_only=True)
class Waveforms:
    """Where waveforms go.

    Parameters
    ----------
    path : Path
        The file.
    scopes : tuple of str
        What to write there, see `sim.machine.create_machine`.
    view : bool
        Write views for viewers beside it.
    """

    path: Path
    scopes: tuple[str, ...] = ()
    view: bool = False


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
    graph : Graph, optional
        The graph; where there is none, it is read from the file that the source names.

    Attributes
    ----------
    source : Source
    words : tuple of int
        Of the run as it was made last, the addresses of the graph words: those of the graph, and of its transpose
        where that was placed too.

    Raises
    ------
    InputError
        The graph cannot be read; the checkpoint is of another run.
    """

    def __init__(
        self,
        source: Source,
        progress: Progress,
        checkpoint: "Checkpoint | None" = None,
        graph: Graph | None = None,
    ) -> None:
        self.source = source
        self.words: tuple[int, ...] = ()
        self._progress = progress
        self._checkpoint = checkpoint
        self._given = graph
        self._graph: Graph | None = None

    def graph(self) -> Graph:
        """Return the graph as it was read.

        Raises
        ------
        InputError
            It cannot be read, or is another one.
        """
        if self._graph is None:
            source = self.source
            graph = Session(source.spec, self._progress, self._given).read_graph()
            source.check_graph(graph.simplified() if source.spec.simplify else graph)
            self._graph = graph
        return self._graph

    def make(self, watch: Watch, *, by: int, aim: str, spec: RunSpec | None = None) -> None:
        """Make the run, to its end or as far as it is watched.

        Parameters
        ----------
        watch : callable
            Called with machine and graphs before anything is simulated. It ends the run by `Reached`.
        by : int
            Cycle from which on it is watched.
        aim : str
            What progress says.
        spec : RunSpec, optional
            The run, where that is not as it was.

        Raises
        ------
        InputError
            The graph is another one.
        SimulationError
            The run failed.
        """

        def keep(session: Session, machine: "Machine", graphs: Sequence["PlacedGraph"]) -> Checkpoints | None:
            self.words = tuple(graph.words_address for graph in graphs)
            watch(machine, graphs)
            return self._keeper(machine, graphs, by)

        try:
            execute(spec or self.source.spec, self._progress, graph=self.graph(), aim=aim, keep=keep)
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

        def watch(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            searches.append(
                Search(
                    machine,
                    spans,
                    sign_of(point, machine),
                    executor=self.source.spec.executor,
                    without=[graph.neighbours_address for graph in graphs],
                )
            )

        self.make(watch, by=spans[0].start, aim=f"looking for {point} from cycle {spans[0].first:,} on")
        return searches[0].cycle

    def record(self, waveforms: Waveforms, window: tuple[int, int], *, executor: str) -> None:
        """Write the waveforms of a window of cycles; they end where the run does.

        Parameters
        ----------
        waveforms : Waveforms
            Where to.
        window : (int, int)
            Its first and last cycle.
        executor : str
            What executes the hardware.

        Raises
        ------
        InputError, SimulationError
            As of `make`; also where the run fails before the window.
        """
        first, last = window
        spec = replace(
            self.source.spec,
            executor=executor,
            waves=str(waveforms.path),
            wave_window=window,
            scopes=waveforms.scopes,
            wave_view=waveforms.view,
        )

        def watch(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            stop_behind(machine, last)

        before = _stamp(waveforms.path)
        try:
            self.make(watch, by=first, aim=f"to cycle {last:,}", spec=spec)
        except SimulationError:
            # A window of a run that fails may well end with that.
            if _stamp(waveforms.path) == before:
                raise


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file is written, None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns
