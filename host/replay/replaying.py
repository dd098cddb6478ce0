"""Replays of recorded runs, from their beginning or from a checkpoint, with waveforms of a window of cycles.

A window is at a given point, or at the last cycles of a failed run.
"""

import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.graph.csr import Graph
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import check_output
from cyscc.host.record.document import read_failure
from cyscc.host.record.reader import Record
from cyscc.host.record.writer import LAST_CYCLES
from cyscc.host.replay.finding import (
    Located,
    MissingPointError,
    causes_of,
    find,
    last_attempt,
    nearest_waits,
    place_of,
)
from cyscc.host.replay.search import Reached, SpellSearch, stop_behind
from cyscc.host.runs.checkpoints.folder import Checkpoint, CheckpointFolder, Identity
from cyscc.host.runs.checkpoints.writer import CheckpointWriter
from cyscc.host.runs.execution import Session, execute
from cyscc.host.runs.rerun import Rerun, RerunSetting
from cyscc.host.runs.sources import sources_digest
from cyscc.host.specification.place import Place
from cyscc.host.specification.run import RunSpec, option_of
from cyscc.sim.coprocessor import Cause
from cyscc.sim.errors import SimulationError
from cyscc.sim.notices import LONGEST_LINE, notice
from cyscc.sim.observation.waves.views import Focus, own_views

if TYPE_CHECKING:
    from cyscc.host.graph.memory_map import PlacedGraph
    from cyscc.host.runs.recorder import RunRecorder
    from cyscc.sim.machine import Machine

OnMachine = Callable[["Machine", Sequence["PlacedGraph"]], None]


class Replay:
    """A recorded run that can be simulated again, any number of times.

    Parameters
    ----------
    rerun : Rerun
        The run to be made again.

    Attributes
    ----------
    checkpoint : Checkpoint or None
        The checkpoint to resume from if it is early enough; None to start from the beginning.
    """

    def __init__(self, rerun: Rerun) -> None:
        self._rerun = rerun
        self.checkpoint: Checkpoint | None = None

    @property
    def spec(self) -> RunSpec:
        """Specification of the run."""
        return self._rerun.spec

    @property
    def graph(self) -> Graph:
        """The graph as read from its file; raises the errors of `Rerun.graph`."""
        return self._rerun.graph

    def go_on_from(self, path: Path, stack: ExitStack) -> None:
        """Load a checkpoint of the run; its folder stays locked until the stack is closed.

        Raises
        ------
        InputError
            The checkpoint cannot be read, or belongs to another run.
        """
        with ExitStack() as held:
            folder = held.enter_context(closing(CheckpointFolder(path, create=False)))
            checkpoint = folder.read()
            about = checkpoint.about
            identity = Identity(**self.spec.identity(self._rerun.document["run"]["digest"]))
            if about.program != sources_digest() or not _same_cycles(identity, about.identity):
                raise InputError(f"is not the checkpoint of the run in {self._rerun.folder}", path=folder.path)
            stack.enter_context(held.pop_all())
        self.checkpoint = checkpoint

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
            execute(
                replace(self.spec, **changes), self._rerun.progress, graph=self.graph, aim=aim, make_checkpointer=resume
            )
        except Reached:
            return

    def locate(self, point: Place, record: Record) -> Located:
        """Find a point of the run, by a simulation if the record does not give its cycle.

        Raises
        ------
        MissingPointError
            The run has no such point.
        InputError, SimulationError
            See `make`.
        """
        found = find(point, record)
        if isinstance(found, Located):
            return found
        if point.vertex is not None:
            from cyscc.host.replay.vertices import locate_vertex

            return locate_vertex(point, self, record)
        if point.event in ("duplicate", "overflow"):
            from cyscc.host.replay.pushes import locate_push

            return locate_push(point, found, self, record)
        searches: list[SpellSearch] = []

        def watch(machine: "Machine", graphs: Sequence["PlacedGraph"]) -> None:
            searches.append(SpellSearch(machine, found, point))

        first = found.spans[0].start
        self.make(watch, by=first, aim=f"looking for {point} from cycle {first:,} on")
        (search,) = searches
        if search.found is None:
            raise MissingPointError.few(point, record, search.count, near=found.near)
        return search.found

    def nearest(self, missing: MissingPointError, record: Record) -> tuple[Place, Located] | None:
        """Return the point that is nearest to one that the run lacks; None if there is none.

        Raises
        ------
        InputError, SimulationError
            See `make`.
        """
        near = self._nearest_waits(missing.point, record) if missing.near is None else missing.near
        for point in near:
            try:
                return point, self.locate(point, record)
            except InputError:
                continue
        return None

    def _nearest_waits(self, point: Place, record: Record) -> Sequence[Place]:
        """Return points with waits that are nearest to one that the run lacks."""
        from cyscc.host.replay.waits import LongestWaits
        from cyscc.host.replay.watching import watch_run

        starts = last_attempt(record)["start"].to_numpy()
        longest = LongestWaits([Cause[name.upper()] for name in causes_of(point)], starts)
        watch_run(self, [longest], first=int(starts[0]), aim=f"looking for what is nearest to {point}")
        return nearest_waits(point, longest.frame(), record)

    def record(self, path: Path, window: tuple[int, int], focus: Focus | None = None, **changes: Any) -> None:
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
            stop_behind(machine, last)
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
            if _stamp(path) != before:
                _remove(path)
            raise


def replay_of(document: dict[str, Any], folder: Path, setting: RerunSetting) -> Replay:
    """Return a recorded run that can be simulated again bit for bit, given the parameters of `Rerun`.

    Raises
    ------
    InputError
        The run was made by another version of the program, or its memory cannot be had.
    """
    if document.get("program") != sources_digest():
        raise InputError("the run was made by another version of this program", path=folder)
    return Replay(Rerun(document, folder, setting))


def _remove(path: Path) -> None:
    """Remove a waveform file and its views."""
    for each in (path, *own_views(path)):
        if each.is_file():
            each.unlink()


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


@dataclass(frozen=True, kw_only=True)
class Window:
    """Waveforms of a window of cycles of a recorded run.

    Parameters
    ----------
    path : Path
        The waveform file.
    cycle : int
        Cycle of the requested point.
    event : str
        What happens there: the kernel and the length of the event, such as ``engine0.bfs3, 243 cycles``; may be empty.
    first, last : int
        First and last cycle of the window.
    """

    path: Path
    cycle: int
    event: str = ""
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
    """

    point: Place
    cycles: int
    before: int
    path: Path | None
    scopes: tuple[str, ...]
    executor: str | None = None

    def check(self, folder: Path, spec: RunSpec) -> None:
        """Refuse what the machine of the run in a folder does not have, and a file that cannot be written.

        Raises
        ------
        InputError
            A scope selects nothing, or the waveforms cannot be written.
        """
        from cyscc.sim.executors.factory import check_scopes

        try:
            check_scopes(self.scopes, name=self.executor or spec.executor, config=spec.configuration)
        except ValueError as error:
            raise InputError(str(error)) from None
        check_output(str(self.file(folder, 0)), "-o")

    def file(self, folder: Path, first: int) -> Path:
        """Return the waveform file, given the record's folder and the first cycle of the window."""
        return Path(f"{folder.resolve().name}-{first}.fst") if self.path is None else self.path


def replay_window(
    folder: Path, wanted: WindowRequest, setting: RerunSetting, *, checkpoint: str | None = None
) -> Window:
    """Replay a recorded run up to a point, and write the waveforms around it.

    Parameters
    ----------
    folder : Path
        The folder of the record, or of a failed recorded run.
    wanted : WindowRequest
        The window.
    setting : RerunSetting
        How the run is made again up to the window.
    checkpoint : str or None
        The folder of a checkpoint of the run, to resume from.

    Raises
    ------
    InputError
        The record, the checkpoint or the graph cannot be used, or the point is not in the run.
    SimulationError
        The machine could not be built, or the run failed before the point.
    """
    point = wanted.point
    document, record = read_failure(folder), None
    if document is None:
        record = Record(folder)
        document = record.document
    replay = replay_of(document, folder, setting)
    wanted.check(folder, replay.spec)
    with ExitStack() as stack:
        if checkpoint is not None:
            replay.go_on_from(Path(checkpoint), stack)
        elif record is None and document["checkpoint"] is not None:
            # It may have been deleted, or be that of another run.
            with suppress(InputError):
                replay.go_on_from(Path(document["run"]["folder"], document["checkpoint"]), stack)
        located = _of_failure(point, document, folder) if record is None else locate_point(point, replay, record)
        cycle = located.cycle
        first = max(cycle - wanted.before, 0)
        end = document["failure"]["cycle"] if record is None else record.cycles
        last = min(first + wanted.cycles, end) - 1
        path = wanted.file(folder, first)
        check_output(str(path), "-o")
        executor = wanted.executor or replay.spec.executor
        focus = _focus(point, located, record)
        replay.record(path, (first, last), focus, scopes=wanted.scopes, executor=executor)
        return Window(path=path, cycle=cycle, event=located.about, first=first, last=last)


def _focus(point: Place, place: Located, record: Record | None) -> Focus:
    """Return what views of the window at a point show first."""
    module = point.module
    if module is None and record is not None:
        every = record.attempts
        running = every[(every["start"] <= place.cycle) & (place.cycle < every["end"])]
        module = None if running.empty else str(running["module"].iloc[0])
    module = module or "bfs"
    kernel = place.kernel
    if kernel is None and (point.engine, point.kernel) != (None, None):
        kernel = f"engine{point.engine or 0}.{module}{point.kernel or 0}"
    event = "cycle" if point.cycles is not None else place.cause or point.kind
    if point.vertex is not None:
        label = f"vertex {point.vertex}"
    else:
        label = {"cycle": "", "start": str(point)}.get(event, " ".join(filter(None, (event, point.fifo))))
    return Focus(
        cycle=place.cycle,
        event=event,
        label=label,
        module=module,
        kernel=kernel,
        fifo=point.fifo,
    )


_CYCLES = 1000
"""Length of the waveforms of a failed run, in cycles."""
_AFTER = 100
"""Cycles of these waveforms after a hanging machine's last activity."""


_LONGEST = LONGEST_LINE - 40
"""Longest text of an error, which command and folder precede in a line."""


def locate_point(point: Place, replay: Replay, record: Record) -> Located:
    """Find a point of a run that did not fail.

    Raises
    ------
    InputError
        The run has no such point; the message says what is nearest.
    """
    folder = record.folder
    try:
        return replay.locate(point, record)
    except MissingPointError as missing:
        nearest = replay.nearest(missing, record)
        if nearest is None:
            raise
        near, found = nearest
        about = ", ".join(filter(None, (place_of(found.cycle, record), f"cycle {found.cycle:,}", found.about)))
        command = f"cyscc replay {shlex.quote(str(folder))} --at {near}"
        texts = [f"{missing.cause}; nearest: {about}: {command}", f"there is no {point}; nearest: {about}: {command}"]
        text = next(
            (text for text in texts if len(text) <= _LONGEST), f"there is no {point}; nearest: {about}: --at {near}"
        )
        raise InputError(text, path=folder) from None


def _of_failure(point: Place, document: dict[str, Any], folder: Path) -> Located:
    """Find a point of a failed run.

    Raises
    ------
    InputError
        The failed run has no such point.
    """
    failure = document["failure"]
    if point.cycles is not None:
        cycle, _ = point.cycles
        if cycle >= failure["cycle"]:
            raise InputError(f"the run failed at cycle {failure['cycle']:,}, before cycle {cycle:,}", path=folder)
        return Located(cycle=cycle)
    if point.event not in ("error", "hang"):
        raise InputError(f"the run failed: there are its cycles, error and hang, but not {point}", path=folder)
    if point.given != ("event",):
        raise InputError(
            f"the run failed: its {point.event} is that of the whole machine, without {replace(point, event=None)}",
            path=folder,
        )
    if point.event == "error":
        return Located(cycle=int(failure["cycle"]) - 1)
    if failure["moved"] is None:
        raise InputError(f"the run does not hang: {failure['message']}", path=folder)
    return Located(cycle=int(failure["moved"]))


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
        replay = Replay(Rerun(document, folder, setting))
        replay.checkpoint = checkpoint
        point = Place(event="error" if moved is None else "hang")
        focus = _focus(point, Located(cycle=end - 1 if moved is None else moved), None)
        replay.record(path, window, focus, scopes=())
    except (InputError, SimulationError) as other:
        notice(f"no waveforms of the cycles in which the run failed: {other}")
        return
    notice(f"{path} shows cycles {window[0]:,} to {window[1]:,}, in which the run failed")
