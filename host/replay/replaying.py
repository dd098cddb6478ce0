"""Windows of a recorded run as waveforms: those asked for by a point, and the last cycles of a run that failed."""

from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.errors import InputError
from host.graph.csr import Graph
from host.output import check_output
from host.progress import Progress
from host.record.reader import Record, read_failure
from host.record.writer import LAST_CYCLES
from host.replay.finding import Found, find
from host.replay.point import Point
from host.replay.run import Replay, Source, Waveforms
from sim.errors import SimulationError
from sim.memory import Profile
from sim.notices import notice

if TYPE_CHECKING:
    from host.checkpoints.folder import Checkpoint
    from host.graph.csr import Graph
    from host.runs.recording import Recording

__all__ = ["Window", "cycle_of_failure", "replay_window", "show_failure"]


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
    view: bool,
    graph: Graph | str | None,
    memory: Profile | None,
    checkpoint: str | None,
    executor: str | None,
    threads: int,
    progress: Progress,
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
        if failure is None:
            found = find(point, Record(folder))
        else:
            found = Found(cycle=cycle_of_failure(point, failure, folder))
    with ExitStack() as stack:
        resumed = None
        if checkpoint is not None:
            resumed = _checkpoint(stack, Path(checkpoint), source)
        elif failure is not None and failure["checkpoint"] is not None:
            # It may be gone by now, or that of another run.
            with suppress(InputError):
                resumed = _checkpoint(stack, Path(failure["run"]["folder"], failure["checkpoint"]), source)
        replay = Replay(source, progress, resumed, graph=graph if isinstance(graph, Graph) else None)
        cycle = found.cycle if found.cycle is not None else replay.locate(point, found.spans)
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


def cycle_of_failure(point: Point, document: dict[str, Any], folder: Path) -> int:
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
    recording: "Recording",
    error: SimulationError,
    *,
    progress: Progress,
    checkpoint: "Checkpoint | None" = None,
    graph: "Graph | None" = None,
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
