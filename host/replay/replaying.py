"""Recorded runs made again, from their beginning or from a checkpoint, and windows of them as waveforms.

Windows are those asked for by a point, and the last cycles of a run that failed.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.checkpoints.checkpoints import Checkpoints
from host.errors import InputError
from host.graph.csr import Graph, graph_digest
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


class Replay:
    """A recorded run that is made again, as often as need be.

    Parameters
    ----------
    document : dict
        That of the record, or of a run that failed.
    folder : Path
        The folder that it is in.
    progress : Progress
        Shows how far it is.
    threads : int
        Threads to make it again with.
    graph : Graph or str, optional
        The graph, or its file, where it is not where it was.
    memory : Profile, optional
        The memory, where no file has its rules.

    Attributes
    ----------
    spec : RunSpec
        The run.
    checkpoint : Checkpoint or None
        Where to go on from, if that is before what is wanted.
    words : tuple of int
        Of the run as it was made last, the addresses of the graph words: those of the graph, and of its transpose
        where that was placed too.

    Raises
    ------
    InputError
        It cannot be made again by this program.
    """

    def __init__(
        self,
        document: dict[str, Any],
        folder: Path,
        progress: Progress,
        *,
        threads: int,
        graph: Graph | str | None = None,
        memory: Profile | None = None,
    ) -> None:
        if document.get("program") != sources_digest():
            raise InputError("the run was made by another version of this program", path=folder)
        run = document["run"]
        named = {"graph": graph} if isinstance(graph, str) else {}
        memory = _memory(document["memory_profile"], run["options"]["memory"], Path(run["folder"]), folder, memory)
        self.spec = RunSpec.of_record(document, memory=memory, threads=threads, **named)
        self.checkpoint: Checkpoint | None = None
        self.words: tuple[int, ...] = ()
        self._folder, self._digest = folder, run["digest"]
        self._progress = progress
        self._given = graph if isinstance(graph, Graph) else None

    @cached_property
    def graph(self) -> Graph:
        """The graph as it was read.

        Raises
        ------
        InputError
            It cannot be read, or is another one.
        """
        graph = Session(self.spec, self._progress, self._given).read_graph()
        if graph_digest(graph.simplified() if self.spec.simplify else graph) != self._digest:
            raise InputError(f"is not the graph of the run in {self._folder}", path=self.spec.graph)
        return graph

    def go_on_from(self, path: Path, stack: ExitStack) -> None:
        """Take the checkpoint of the run in a folder, which nobody else has until the stack is left.

        Raises
        ------
        InputError
            It cannot be read, or is of another run.
        """
        from host.checkpoints.folder import CheckpointFolder

        with ExitStack() as held:
            folder = held.enter_context(closing(CheckpointFolder(path, create=False)))
            checkpoint = folder.read()
            about = checkpoint.about
            identity = json.loads(json.dumps(self.spec.identity(self._digest)))
            if about["program"] != sources_digest() or _deciding(about["identity"]) != _deciding(identity):
                raise InputError(f"is not the checkpoint of the run in {self._folder}", path=folder.path)
            stack.enter_context(held.pop_all())
        self.checkpoint = checkpoint

    def make(self, watch: Watch, *, by: int, aim: str, **changes: Any) -> None:
        """Make the run, to its end or as far as it is watched.

        Parameters
        ----------
        watch : callable
            Called with machine and graphs before anything is simulated. It ends the run by `Reached`.
        by : int
            Cycle from which on it is watched.
        aim : str
            What progress says.
        **changes
            What of the run is not as it was, see `RunSpec`.

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
            if self.checkpoint is None or self.checkpoint.about["cycle"] > by:
                return None
            without = [graph.neighbours_address for graph in graphs]
            return Checkpoints(machine, without=without, resumed=self.checkpoint)

        try:
            execute(replace(self.spec, **changes), self._progress, graph=self.graph, aim=aim, keep=keep)
        except Reached:
            return

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
                    executor=self.spec.executor,
                    without=[graph.neighbours_address for graph in graphs],
                )
            )

        self.make(watch, by=spans[0].start, aim=f"looking for {point} from cycle {spans[0].first:,} on")
        return searches[0].cycle

    def record(self, path: Path, window: tuple[int, int], **changes: Any) -> None:
        """Write the waveforms of a window of cycles; they end where the run does.

        Parameters
        ----------
        path : Path
            Where to.
        window : (int, int)
            Its first and last cycle.
        **changes
            As of `make`.

        Raises
        ------
        InputError, SimulationError
            As of `make`; also where the run fails before the window.
        """
        first, last = window
        before = _stamp(path)
        changes |= {"waves": str(path), "wave_window": window}
        try:
            self.make(lambda machine, graphs: stop_behind(machine, last), by=first, aim=f"to cycle {last:,}", **changes)
        except SimulationError:
            # A window of a run that fails may well end with that.
            if _stamp(path) == before:
                raise


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file is written, None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


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
    scopes : tuple of str
        What to show, see `sim.machine.create_machine`.
    view : bool
        Write views for viewers beside it.
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
    replay = Replay(document, folder, progress, threads=threads, graph=graph, memory=memory)
    with progress.step("reading the record"):
        found = find(point, Record(folder)) if failure is None else _cycle_of_failure(point, failure, folder)
    with ExitStack() as stack:
        if checkpoint is not None:
            replay.go_on_from(Path(checkpoint), stack)
        elif failure is not None and failure["checkpoint"] is not None:
            # It may be gone by now, or that of another run.
            with suppress(InputError):
                replay.go_on_from(Path(failure["run"]["folder"], failure["checkpoint"]), stack)
        cycle = found if isinstance(found, int) else replay.locate(point, found)
        if cycle is None:
            raise InputError(f"there is no {point} in the run", path=folder)
        first = max(cycle - before, 0)
        end = document["cycles"]["total"] if failure is None else failure["failure"]["cycle"]
        last = min(first + cycles, end) - 1
        if path is None:
            path = Path(f"{folder.resolve().name}-{first}.fst")
            check_output(str(path), "-o")
        replay.record(path, (first, last), scopes=scopes, wave_view=view, executor=executor or replay.spec.executor)
        placed = replay.graph.simplified() if replay.spec.simplify else replay.graph
        return Window(path=path, cycle=cycle, first=first, last=last, graph=placed, words=replay.words)


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
        spec = recording.spec
        replay = Replay(document, folder, progress, threads=spec.threads, graph=graph, memory=spec.profile)
        replay.checkpoint = checkpoint
        replay.record(path, window, scopes=(), wave_view=False)
    except (InputError, SimulationError) as other:
        notice(f"no waveforms of the cycles in which the run failed: {other}")
        return
    notice(f"{path} shows cycles {window[0]:,} to {window[1]:,}, in which the run failed")
