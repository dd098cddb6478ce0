"""Recorded runs made again, from their beginning or from a checkpoint, and windows of them as waveforms.

Windows are those asked for by a point, and the last cycles of a run that failed.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.checkpoints.checkpoints import Checkpoints
from host.errors import InputError
from host.graph.csr import Graph
from host.graph.digests import graph_digest
from host.output import check_output
from host.progress import Progress
from host.record.reader import Record, read_failure
from host.record.writer import LAST_CYCLES
from host.replay.point import Point, Span, find
from host.replay.search import Reached, Search, sign_of, stop_behind
from host.runs.execution import Recording, Session, execute
from host.runs.specification import RunSpec, option_of
from host.sources import sources_digest
from sim.errors import SimulationError
from sim.memory import Profile, changed_profile, parse_profile, profile_from
from sim.notices import notice

if TYPE_CHECKING:
    from host.checkpoints.folder import Checkpoint
    from host.graph.memory_map import PlacedGraph
    from sim.machine import Machine

__all__ = ["Window", "replay_window", "show_failure"]

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
        source: "Source",
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
        without = [graph.neighbours_address for graph in graphs]
        return Checkpoints(machine, without=without, resumed=checkpoint)

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


@dataclass(frozen=True, kw_only=True)
class Source:
    """Source of a run: all that it was made of.

    Parameters
    ----------
    folder : Path
        The folder that tells.
    digest : str
        Digest of the graph as the machine had it.
    spec : RunSpec
        The run.
    """

    folder: Path
    digest: str
    spec: RunSpec

    @classmethod
    def of(
        cls,
        document: dict[str, Any],
        folder: Path,
        *,
        threads: int,
        graph: str | None = None,
        memory: Profile | None = None,
    ) -> "Source":
        """Return what a run was made of.

        Parameters
        ----------
        document : dict
            That of a record, or of a run that failed.
        folder : Path
            The folder that it is in.
        threads : int
            Threads to make it again with.
        graph : str, optional
            The graph's file, where it is not where it was.
        memory : Profile, optional
            The memory, where no file has its rules.

        Raises
        ------
        InputError
            It cannot be made again by this program.
        """
        run = document["run"]
        if document.get("program") != sources_digest():
            raise InputError("the run was made by another version of this program", path=folder)
        named = {} if graph is None else {"graph": graph}
        memory = _memory(document["memory_profile"], run["options"]["memory"], Path(run["folder"]), folder, memory)
        return cls(
            folder=folder,
            digest=run["digest"],
            spec=RunSpec.of_record(document, memory=memory, threads=threads, **named),
        )

    def check_checkpoint(self, checkpoint: "Checkpoint", path: Path) -> None:
        """Refuse a checkpoint that is not the run's.

        Raises
        ------
        InputError
            It is of another one.
        """
        about = checkpoint.about
        if about["program"] != sources_digest() or _deciding(about["identity"]) != _deciding(
            json.loads(json.dumps(self.spec.identity(self.digest)))
        ):
            raise InputError(f"is not the checkpoint of the run in {self.folder}", path=path)

    def check_graph(self, graph: Graph) -> None:
        """Refuse a graph that is not the run's.

        Raises
        ------
        InputError
            It is another one.
        """
        if graph_digest(graph) != self.digest:
            raise InputError(f"is not the graph of the run in {self.folder}", path=self.spec.graph)


def _deciding(identity: dict[str, Any]) -> dict[str, Any]:
    """Return what of the identity of a run decides about its cycles: a record may have been made by one of two runs."""
    options = {name: value for name, value in identity["options"].items() if option_of(name).decides}
    return {**identity, "options": options}


def _memory(described: dict[str, Any], text: str, here: Path, folder: Path, profile: Profile | None) -> Profile:
    """Return the memory profile that a record describes.

    Parameters
    ----------
    described : dict
        What the record has of it.
    text : str
        What the run called it.
    here, folder : Path
        Where the run was, and where its record is.
    profile : Profile or None
        The profile itself, where it is at hand.
    """
    values = {name: value for name, value in described.items() if name not in ("profile", "source")}
    if profile is None:
        try:
            try:
                profile = profile_from({"profile": described["profile"], **values})
            except ValueError:
                # Rules of one's own are in a file.
                profile = changed_profile(parse_profile(str(here / text)), values)
        except ValueError as error:
            raise InputError(f"the memory of the run cannot be had: {error}", path=folder) from None
    if profile.describe() != described:
        raise InputError(f"the memory {text} is not what it was in the run", path=folder)
    return profile


@dataclass(frozen=True, kw_only=True)
class Window:
    """Cycles of a recorded run that a file shows.

    Parameters
    ----------
    path : Path
        The waveforms.
    cycle : int
        Cycle of the point.
    first, last : int
        First and last cycle of the waveforms.
    graph : Graph
        The graph as the machine had it.
    words : tuple of int
        Addresses of the graph words, see `Replay.words`.
    """

    path: Path
    cycle: int
    first: int
    last: int
    graph: Graph
    words: tuple[int, ...]

    def directions(self) -> dict[int, Graph]:
        """Return the graph, and its transpose where that was searched too, by the addresses of their words."""
        kinds = [self.graph] if len(self.words) == 1 else [self.graph, self.graph.transpose()]
        return dict(zip(self.words, kinds, strict=True))


def replay_window(
    folder: Path,
    point: Point,
    *,
    cycles: int,
    before: int,
    path: Path | None,
    scopes: tuple[str, ...],
    graph: Graph | str | None,
    threads: int,
    progress: Progress,
    view: bool = False,
    memory: Profile | None = None,
    checkpoint: str | None = None,
    executor: str | None = None,
) -> Window:
    """Make a recorded run again up to a point, and write the waveforms there.

    Parameters
    ----------
    folder : Path
        The folder of the record, or of a recorded run that failed.
    point : Point
        Where.
    cycles : int
        Cycles to show; fewer where the run ends before.
    before : int
        Of them those before the point.
    path : Path or None
        The file, ``.fst`` or ``.vcd``; None for the folder's name and the first cycle.
    scopes, view
        As of `Waveforms`.
    graph : Graph, str or None
        The graph or its file; None for the file that the run had.
    memory : Profile or None
        The memory profile; None for the one that the record names.
    checkpoint : str or None
        The folder of a checkpoint of the run.
    executor : str or None
        What executes the cycles that are shown; None for what the run had.
    threads : int
        Threads of the way there.
    progress : Progress
        Shows how far it is.

    Raises
    ------
    InputError
        A record, a checkpoint or a graph that cannot be used, a point that is not in the run.
    SimulationError
        The machine could not be built, or the run failed before the point.
    """
    failure = read_failure(folder)
    document = Record(folder).document if failure is None else failure
    file = graph if isinstance(graph, str) else None
    source = Source.of(document, folder, threads=threads, graph=file, memory=memory)
    with progress.step("reading the record"):
        found = find(point, Record(folder)) if failure is None else _cycle_of_failure(point, failure, folder)
    with ExitStack() as stack:
        resumed = None
        if checkpoint is not None:
            resumed = _checkpoint(stack, Path(checkpoint), source)
        elif failure is not None and failure["checkpoint"] is not None:
            # It may be gone by now, or that of another run.
            with suppress(InputError):
                resumed = _checkpoint(stack, Path(failure["run"]["folder"], failure["checkpoint"]), source)
        replay = Replay(source, progress, resumed, graph=graph if isinstance(graph, Graph) else None)
        cycle = found if isinstance(found, int) else replay.locate(point, found)
        if cycle is None:
            raise InputError(f"there is no {point} in the run", path=folder)
        first = max(cycle - before, 0)
        end = document["cycles"]["total"] if failure is None else failure["failure"]["cycle"]
        last = min(first + cycles, end) - 1
        if path is None:
            path = Path(f"{folder.resolve().name}-{first}.fst")
            check_output(str(path), "-o")
        waveforms = Waveforms(path=path, scopes=scopes, view=view)
        replay.record(waveforms, (first, last), executor=executor or source.spec.executor)
        read = replay.graph()
        placed = read.simplified() if source.spec.simplify else read
        return Window(path=path, cycle=cycle, first=first, last=last, graph=placed, words=replay.words)


def _checkpoint(stack: ExitStack, path: Path, source: Source) -> "Checkpoint":
    """Return the checkpoint of a run in a folder, which nobody else has until the stack is left."""
    from host.checkpoints.folder import CheckpointFolder

    with ExitStack() as held:
        folder = held.enter_context(closing(CheckpointFolder(path, create=False)))
        checkpoint = folder.read()
        source.check_checkpoint(checkpoint, folder.path)
        stack.enter_context(held.pop_all())
    return checkpoint


_CYCLES = 1000
"""Cycles of the waveforms."""
_AFTER = 100
"""Of them those in which a machine that hangs does nothing."""


def _cycle_of_failure(point: Point, document: dict[str, Any], folder: Path) -> int:
    """Return the cycle of a point of a run that failed.

    Raises
    ------
    InputError
        There is no such point.
    """
    failure = document["failure"]
    if point.cycle is not None:
        if point.cycle >= failure["cycle"]:
            raise InputError(f"the run failed at cycle {failure['cycle']:,}, before cycle {point.cycle:,}", path=folder)
        return point.cycle
    restricted = str(point).partition(",")[2]
    if restricted:
        raise InputError(
            f"the run failed: its error or hang is that of the whole machine, without {restricted}", path=folder
        )
    if point.event == "error":
        return int(failure["cycle"]) - 1
    if point.event != "hang":
        raise InputError(f"the run failed: there are its cycles, error and hang, but not {point}", path=folder)
    if failure["moved"] is None:
        raise InputError(f"the run does not hang: {failure['message']}", path=folder)
    return int(failure["moved"])


def show_failure(
    recording: Recording,
    error: SimulationError,
    *,
    progress: Progress,
    checkpoint: "Checkpoint | None" = None,
    graph: Graph | None = None,
) -> None:
    """Leave in the folder of a recorded run that failed what a replay needs, and the waveforms of its last cycles.

    Parameters
    ----------
    recording : Recording
        What recorded it.
    error : SimulationError
        How it failed.
    progress : Progress
        Shows how far it is.
    checkpoint : Checkpoint, optional
        Where to go on from.
    graph : Graph, optional
        The graph, where no file has it.
    """
    if not recording.failed(error):
        return
    folder = recording.folder
    document = read_failure(folder)
    assert document is not None
    moved, end = document["failure"]["moved"], document["failure"]["cycle"]
    last = end - 1 if moved is None else min(moved + _AFTER, end - 1)
    window = max(last - _CYCLES + 1, 0), last
    path = folder / LAST_CYCLES
    try:
        source = Source.of(document, folder, threads=recording.spec.threads, memory=recording.spec.profile)
        replay = Replay(source, progress, checkpoint, graph)
        replay.record(Waveforms(path=path), window, executor=source.spec.executor)
    except (InputError, SimulationError) as other:
        notice(f"no waveforms of the cycles in which the run failed: {other}")
        return
    notice(f"{path} shows cycles {window[0]:,} to {window[1]:,}, in which the run failed")
