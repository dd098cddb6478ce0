"""Replays of recorded runs, from their beginning or from a checkpoint, with waveforms of a window of cycles.

A window is at a given point, or at the last cycles of a failed run.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cyscc.host.output.errors import InputError, refusing
from cyscc.host.output.files import check_output
from cyscc.host.output.text import count_text
from cyscc.host.record.document import read_failure
from cyscc.host.record.reader import Record
from cyscc.host.record.writer import LAST_CYCLES
from cyscc.host.replay.finding import Located, MissingPointError, find, kernel_name
from cyscc.host.replay.spells import Reached, SpellSearch
from cyscc.host.runs.checkpoints.folder import Checkpoint, CheckpointFolder, Identity
from cyscc.host.runs.checkpoints.writer import CheckpointWriter
from cyscc.host.runs.execution import Session
from cyscc.host.runs.rerun import Rerun, RerunSetting
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.place import Place
from cyscc.host.specification.run import option_of
from cyscc.sim.errors import SimulationError
from cyscc.sim.notices import notice
from cyscc.sim.observation.waves.views import Focus, own_views

if TYPE_CHECKING:
    from cyscc.host.graph.memory_map import PlacedGraph
    from cyscc.host.runs.recorder import RunRecorder
    from cyscc.sim.machine import Machine

_WAIT = 64
"""Cycles between two looks at what is waited for."""

OnMachine = Callable[["Machine", Sequence["PlacedGraph"]], None]


class Watcher(Protocol):
    """Collects events of a run while it is simulated.

    Attributes
    ----------
    waiting : bool
        Something that is collected has begun, and its end is still to come.
    done : bool
        Nothing more is wanted, and the run may end.
    """

    waiting: bool
    done: bool

    def begin(self, machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
        """Start collecting, before the machine's first cycle or the state that it goes on from."""

    def look(self, cycle: int) -> int:
        """Take the events up to a cycle; return the most cycles until the next call.

        The last call is at the end of the run, before the machine is closed.
        """


class Replay(Rerun):
    """A run that can be simulated again bit for bit, any number of times; its parameters are those of `Rerun`.

    Attributes
    ----------
    checkpoint : Checkpoint or None
        The checkpoint to resume from if it is early enough; None to start from the beginning.

    Raises
    ------
    InputError
        The run was made by another version of the program, or its memory cannot be had.
    """

    def __init__(self, document: dict[str, Any], folder: Path, setting: RerunSetting) -> None:
        if document.get("program") != sources_digest():
            raise InputError("the run was made by another version of this program", path=folder)
        super().__init__(document, folder, setting)
        self.checkpoint: Checkpoint | None = None

    @contextmanager
    def resumed(self, path: str | None) -> Iterator[None]:
        """Go on from a checkpoint of the run, if one is named; its folder stays locked.

        Raises
        ------
        InputError
            The checkpoint cannot be read, or belongs to another run.
        """
        if path is None:
            yield
            return
        with closing(CheckpointFolder(Path(path), create=False)) as folder:
            checkpoint = folder.read()
            identity = Identity(**self.spec.identity(self.document["run"]["digest"]))
            if checkpoint.about.program != sources_digest() or not _same_cycles(identity, checkpoint.about.identity):
                raise InputError(f"is not the checkpoint of the run in {self.folder}", path=folder.path)
            self.checkpoint = checkpoint
            yield

    def make(self, watch: OnMachine, *, by: int, aim: str, **changes: Any) -> None:
        """Simulate the run to its end, or until `watch` stops it.

        Parameters
        ----------
        watch : callable
            Called with the machine and its graphs before the simulation starts. Its hooks end the run by `Reached`.
        by : int
            First cycle of interest; a later checkpoint is not used.
        aim : str
            Text of the progress display.
        **changes
            Fields of `RunSpec` that differ from the recorded run.

        Raises
        ------
        InputError
            The graph is not that of the run.
        SimulationError
            The run failed.
        """

        def resume(session: Session, machine: "Machine", graphs: Sequence["PlacedGraph"]) -> CheckpointWriter | None:
            watch(machine, graphs)
            if self.checkpoint is None or self.checkpoint.about.cycle > by:
                return None
            without = [graph.neighbours_address for graph in graphs]
            return CheckpointWriter(machine, without=without, resumed=self.checkpoint)

        try:
            spec = replace(self.spec, **changes)
            Session(spec, self.progress, self.graph, aim=aim, make_checkpointer=resume).execute()
        except Reached:
            return

    def watch(
        self,
        watchers: Sequence[Watcher],
        *,
        first: int = 0,
        last: int | None = None,
        aim: str,
        executor: str = "compiled",
    ) -> int:
        """Make a run again with some watchers, to its end or to a cycle.

        Parameters
        ----------
        watchers : sequence of Watcher
            The watchers.
        first : int
            First cycle of interest; a later checkpoint is not used.
        last : int, optional
            The run ends at the first sync point of all AEs after this cycle at which no watcher is waiting.
        aim : str
            Text of the progress display.
        executor : str
            The executor: all have the same cycles, but only this one logs accesses.

        Returns
        -------
        int
            The cycle that the run reached.

        Raises
        ------
        InputError, SimulationError
            See `make`.
        """
        machines: list[Machine] = []

        def begin(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            machines.append(machine)
            for watcher in watchers:
                watcher.begin(machine, graphs)
            machine.on_sync = on_sync
            machine.on_close = on_close

        def on_sync(cycle: int) -> int:
            nearest = min(watcher.look(cycle) for watcher in watchers)
            if any(watcher.done for watcher in watchers):
                raise Reached
            if last is None or cycle <= last:
                return nearest if last is None else min(nearest, last + 1 - cycle)
            if not any(watcher.waiting for watcher in watchers):
                raise Reached
            return min(nearest, _WAIT)

        def on_close() -> None:
            for watcher in watchers:
                watcher.look(machines[0].reached)

        self.make(begin, by=first, aim=aim, executor=executor)
        return machines[0].reached

    def write_waves(self, path: Path, window: tuple[int, int], focus: Focus | None = None, **changes: Any) -> None:
        """Write the waveforms of a window of cycles; they end early if the run does.

        Parameters
        ----------
        path : Path
            The output file.
        window : (int, int)
            First and last cycle.
        focus : Focus, optional
            What views beside the waveforms show first; no views by default.
        **changes
            See `make`.

        Raises
        ------
        InputError, SimulationError
            See `make`; a failure within the window is no error.
        """
        first, last = window
        before = _stamp(path)
        # No limit on cycles: a resumed run's may be smaller than the cycles before its checkpoint.
        changes |= {"waves": str(path), "wave_window": window, "wave_view": focus is not None, "cycle_limit": None}

        def watch(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            machine.schedule(last + 1, _end)
            assert machine.executor.waves is not None
            machine.executor.waves.focus = focus

        try:
            self.make(watch, by=first, aim=f"to cycle {last:,}", **changes)
        except SimulationError:
            # A failing run may end within the window.
            if _stamp(path) == before:
                raise
        except BaseException:
            # Waveforms of an interrupted run are completed, and show only a part of the window.
            for each in (path, *own_views(path)) if _stamp(path) != before else ():
                if each.is_file():
                    each.unlink()
            raise

    @property
    def end(self) -> int:
        """Cycles of the run."""
        raise NotImplementedError

    def locate(self, point: Place) -> Located:
        """Find a point of the run.

        Raises
        ------
        InputError
            The run has no such point.
        SimulationError
            See `make`.
        """
        raise NotImplementedError

    def module_at(self, cycle: int) -> str | None:
        """Return the module that runs in a cycle, if it is known."""
        return None

    @contextmanager
    def window(self, wanted: "WindowRequest") -> "Iterator[Window]":
        """Find a window of the run, and go on from the checkpoint that is named.

        Raises
        ------
        InputError, SimulationError
            See `resumed` and `locate`.
        """
        with self.resumed(wanted.checkpoint):
            found = self.locate(wanted.point)
            first = max(found.cycle - wanted.before, 0)
            yield Window(found, first, min(first + wanted.cycles, self.end) - 1)


class RecordReplay(Replay):
    """A recorded run that did not fail, made again.

    Parameters
    ----------
    record : Record
        Its record.
    setting : RerunSetting
        How it is made again.
    """

    def __init__(self, record: Record, setting: RerunSetting) -> None:
        super().__init__(record.document, record.folder, setting)
        self.record = record

    @property
    def end(self) -> int:
        """Cycles of the run."""
        return self.record.cycles

    def module_at(self, cycle: int) -> str | None:
        """Return the module that runs in a cycle, if one does."""
        every = self.record.attempts
        running = every[(every["start"] <= cycle) & (cycle < every["end"])]
        return None if running.empty else str(running["module"].iloc[0])

    def locate(self, point: Place) -> Located:
        """Find a point, by a simulation if the record does not give its cycle."""
        found = find(point, self.record)
        if isinstance(found, Located):
            return found
        if point.vertex is not None:
            from cyscc.host.replay.vertices import locate_vertex

            return locate_vertex(point, self)
        if point.event in ("duplicate", "overflow"):
            from cyscc.host.replay.pushes import locate_push

            return locate_push(point, found, self)
        (first, _), (_, end) = found.spans[0], found.spans[-1]
        search, aim = SpellSearch(found, point, self.record), f"looking for {point} from cycle {first:,} on"
        self.watch([search], first=first, last=end - 1, aim=aim, executor=self.spec.executor)
        events = search.events()
        if events.empty and len(search.longest):
            wait = search.longest.iloc[0]
            why = f"no wait there is longer than {count_text(wait['cycles'], 'cycle')}, from cycle {wait['begin']:,} on"
            raise MissingPointError(point, self.record, why)
        if len(events) < found.nth:
            raise MissingPointError.few(point, self.record, len(events))
        event = events.iloc[found.nth - 1]
        return Located(
            cycle=int(event["begin"]),
            kernel=kernel_name(event),
            cause=str(event["cause"]) if point.cause is not None else None,
            cycles=int(event["cycles"]),
        )


class FailedReplay(Replay):
    """A recorded run that failed, made again; its parameters are those of `Rerun`."""

    @property
    def end(self) -> int:
        """Cycles of the run."""
        return int(self.document["failure"]["cycle"])

    @contextmanager
    def resumed(self, path: str | None) -> Iterator[None]:
        """Go on from a checkpoint: by default from the run's own, if it is still there."""
        kept = self.document["checkpoint"]
        with ExitStack() as stack:
            if path is not None or kept is None:
                stack.enter_context(super().resumed(path))
            else:
                # It may have been deleted, or be that of another run.
                with suppress(InputError):
                    stack.enter_context(super().resumed(str(Path(self.document["run"]["folder"], kept))))
            yield

    def locate(self, point: Place) -> Located:
        """Find a cycle of the run, or how it ended."""
        failure, end = self.document["failure"], self.end
        if point.cycles is not None:
            cycle, _ = point.cycles
            if cycle >= end:
                raise InputError(f"the run failed at cycle {end:,}, before cycle {cycle:,}", path=self.folder)
            return Located(cycle=cycle)
        if point.event not in ("error", "hang"):
            cause = f"the run failed: there are its cycles, error and hang, but not {point}"
            raise InputError(cause, path=self.folder)
        if point.given != ("event",):
            rest = replace(point, event=None)
            cause = f"the run failed: its {point.event} is that of the whole machine, without {rest}"
            raise InputError(cause, path=self.folder)
        if point.event == "error":
            return Located(cycle=end - 1)
        if failure["moved"] is None:
            raise InputError(f"the run does not hang: {failure['message']}", path=self.folder)
        return Located(cycle=int(failure["moved"]))


def _end() -> None:
    raise Reached


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return a value that changes when the file is written; None if there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def _same_cycles(one: Identity, other: Identity) -> bool:
    """Whether runs of two identities have the same cycles: equal but for options such as those of observation."""
    names = [name for name in one.options if option_of(name).affects_result]
    parts = [(each.graph, each.configuration, each.memory, *map(each.options.get, names)) for each in (one, other)]
    return parts[0] == parts[1]


class Window(NamedTuple):
    """A window of cycles of a recorded run: what was found there, first and last cycle."""

    found: Located
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class WindowRequest:
    """A window of waveforms to write.

    Parameters
    ----------
    point : Place
        The point of the run.
    cycles : int
        Length of the window in cycles; less if the run ends earlier.
    before : int
        Cycles of the window before the point.
    path : Path or None
        The waveform file, ``.fst`` or ``.vcd``; None for a name made of the folder's name and the first cycle.
    scopes : tuple of str
        The scopes to include, see `cyscc.sim.machine.create_machine`.
    executor : str or None
        The executor of the window; None for that of the run.
    checkpoint : str or None
        The folder of a checkpoint of the run, to resume from.
    """

    point: Place
    cycles: int
    before: int
    path: Path | None
    scopes: tuple[str, ...]
    executor: str | None = None
    checkpoint: str | None = None

    def check(self, replay: Replay) -> None:
        """Refuse what the machine of the run does not have, and a file that cannot be written.

        Raises
        ------
        InputError
            A scope selects nothing, or the waveforms cannot be written.
        """
        from cyscc.sim.executors.factory import check_scopes

        spec = replay.spec
        with refusing(ValueError):
            check_scopes(self.scopes, name=self.executor or spec.executor, config=spec.configuration)
        check_output(str(self.file(replay.folder, 0)), "-o")

    def file(self, folder: Path, first: int) -> Path:
        """Return the waveform file, given the record's folder and the first cycle of the window."""
        return Path(f"{folder.resolve().name}-{first}.fst") if self.path is None else self.path


def replay_window(folder: Path, wanted: WindowRequest, setting: RerunSetting) -> tuple[Window, Path]:
    """Replay a recorded run up to a point, and write the waveforms around it.

    Parameters
    ----------
    folder : Path
        The folder of the record, or of a failed recorded run.
    wanted : WindowRequest
        The window.
    setting : RerunSetting
        How the run is made again up to the window.

    Returns
    -------
    (Window, Path)
        The window, and the file.

    Raises
    ------
    InputError
        The record, the checkpoint or the graph cannot be used, or the point is not in the run.
    SimulationError
        The machine could not be built, or the run failed before the point.
    """
    failed = read_failure(folder)
    replay = RecordReplay(Record(folder), setting) if failed is None else FailedReplay(failed, folder, setting)
    wanted.check(replay)
    with replay.window(wanted) as window:
        path = wanted.file(folder, window.first)
        check_output(str(path), "-o")
        executor = wanted.executor or replay.spec.executor
        focus = _focus(wanted.point, window.found, replay)
        replay.write_waves(path, window[1:], focus, scopes=wanted.scopes, executor=executor)
        return window, path


def _focus(point: Place, place: Located, replay: Replay) -> Focus:
    """Return what views of the window at a point show first."""
    module = point.module or replay.module_at(place.cycle) or "bfs"
    kernel = place.kernel
    if kernel is None and (point.engine, point.kernel) != (None, None):
        kernel = f"engine{point.engine or 0}.{module}{point.kernel or 0}"
    event = "cycle" if point.cycles is not None else place.cause or point.kind
    if point.vertex is not None:
        label = f"vertex {point.vertex}"
    else:
        label = {"cycle": "", "start": str(point)}.get(event, " ".join(filter(None, (event, point.fifo))))
    return Focus(cycle=place.cycle, event=event, label=label, module=module, kernel=kernel, fifo=point.fifo)


_CYCLES = 1000
"""Length of the waveforms of a failed run, in cycles."""
_AFTER = 100
"""Cycles of these waveforms after a hanging machine's last activity."""


def show_failure(
    recording: "RunRecorder", error: SimulationError, setting: RerunSetting, *, checkpoint: "Checkpoint | None" = None
) -> None:
    """Write the document of a failed run, and waveforms of its last cycles, into the folder of its record.

    Parameters
    ----------
    recording : RunRecorder
        The recording of the run.
    error : SimulationError
        The failure.
    setting : RerunSetting
        How the run is made again.
    checkpoint : Checkpoint, optional
        The checkpoint to resume from.
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
        replay = FailedReplay(document, folder, setting)
        replay.checkpoint = checkpoint
        point = Place(event="error" if moved is None else "hang")
        replay.write_waves(path, window, _focus(point, replay.locate(point), replay), scopes=())
    except (InputError, SimulationError) as other:
        notice(f"no waveforms of the cycles in which the run failed: {other}")
        return
    notice(f"{path} shows cycles {window[0]:,} to {window[1]:,}, in which the run failed")
