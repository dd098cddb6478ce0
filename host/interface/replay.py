"""`replay`: a recorded run made again, for waveforms, traces, lives and records of a place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.answer.answer import Answer
from cyscc.host.interface.notes import GraphAgain, MemoryAgain, Recorded, Threads, Wanted, place_of
from cyscc.host.output.files import STANDARD_OUTPUT, Content
from cyscc.host.specification.ask import Ask, Rule, SpecError, question
from cyscc.host.specification.run import option_of
from cyscc.sim.executors.names import EXECUTORS

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Table
    from cyscc.host.record.reader import Record
    from cyscc.host.replay.replaying import Window, WindowRequest
    from cyscc.host.runs.rerun import RerunSetting
    from cyscc.host.specification.place import Place

__all__ = ["Replayed", "replay"]

_CYCLES = 1000
"""Cycles of a window, unless a number or the place says otherwise."""

At = Annotated[
    "Place | str | int | None",
    Ask(help="a cycle, FIRST:LAST, level=3, vertex=V, cause=slot,longer=60,level=4, ...", metavar="PLACE", flag="--at"),
]
Output = Annotated[
    "str | PathLike[str] | None",
    Ask(
        help="the waveforms, .fst or .vcd (default: DIR-CYCLE.fst); a folder for --record-detail (DIR/detail)",
        metavar="OUT.fst",
        flag="--output",
        short="-o",
    ),
]
Cycles = Annotated[int | None, Ask(help=f"cycles to record (default: the place's, or {_CYCLES})", metavar="N", low=1)]
Before = Annotated[int, Ask(help="begin N cycles earlier (default: {default})", metavar="N", low=0)]
Scopes = Annotated[Sequence[str], option_of("scopes")]
Life = Annotated[
    "str | PathLike[str] | None",
    Ask(help="write the lives of the window's queue entries, for Konata", metavar="OUT", writes=Content.LIVES),
]
LifeOf = Annotated[
    "int | str | Sequence[int | str]",
    Ask(
        help="without --at: vertices whose whole life is shown; with it: only these lives of the window, as life --of",
        metavar="WHAT",
        count="+",
    ),
]
Trace = Annotated[
    "str | PathLike[str] | None",
    Ask(
        help="write each cycle of the kernels in the window, each memory access, for Perfetto; waveforms only with -o",
        metavar="OUT.pftrace",
        writes=Content.TRACE,
    ),
]
Detail = Annotated["Place | str | None", option_of("record_detail")]
Interval = Annotated[int | None, option_of("record_detail_interval")]
From = Annotated[Any, Ask(help="start from the checkpoint in this folder", metavar="DIR", flag="--from")]
Executor = Annotated[
    str | None, Ask(help="simulator of the recorded cycles (default: as in the run)", choices=EXECUTORS)
]


@dataclass(kw_only=True, eq=False, repr=False)
class Replayed(Answer):
    """The answer of a replay.

    Parameters
    ----------
    path : Path or None
        The waveforms, if there are some.
    record : Record or None
        The record of a place in detail, if there is one.
    """

    path: Path | None = None
    record: "Record | None" = None


@question(
    rules=(
        Rule(("record_detail_interval",), needs=("record_detail",)),
        Rule(
            ("record_detail",),
            excludes=("at", "life", "life_of", "trace", "executor", "scopes"),
            why="it writes a record of the whole machine",
        ),
        Rule(("life", "life_of"), excludes=("scopes",), why="lives need all signals of the kernels"),
        Rule(("checkpoint",), needs=("at", "record_detail"), why="the life of a vertex is that of the whole run"),
    ),
    examples="""examples:
  cyscc bfs random.gr --source 1 --record seen
  cyscc replay seen --at 120000 --cycles 2000 -o middle.fst
  cyscc replay seen --at 120000:121999
  cyscc replay seen --at level=3 --before 100
  cyscc replay seen --at slot,engine=0,kernel=3,level=4 --cycles 500
  cyscc replay seen --life-of 4711
  cyscc replay seen --at vertex=4711 --before 200
  cyscc replay seen --at level=3 --cycles 500 --trace level3.pftrace
  cyscc replay seen --at wait=any,longer=100,nth=3
  cyscc replay seen --at fifo=visits,above=60
  cyscc replay seen --at level=3 --cycles 500 --life level3.kanata --life-of engine0.bfs3
  cyscc replay seen --record-detail level=3 --record-detail-interval 32
""",
)
def replay(
    recorded: Recorded,
    at: At = None,
    output: Output = None,
    *,
    cycles: Cycles = None,
    before: Before = 0,
    scopes: Scopes = (),
    life: Life = None,
    life_of: LifeOf = (),
    trace: Trace = None,
    record_detail: Detail = None,
    record_detail_interval: Interval = None,
    graph: GraphAgain = None,
    memory: MemoryAgain = None,
    checkpoint: From = None,
    executor: Executor = None,
    threads: Threads = None,
    progress: Wanted = False,
) -> Replayed:
    """Make a recorded run again up to a point, and write waveforms from there.

    It is made again bit-identically and quickly. Instead of waveforms, it shows the life of a vertex, or writes a
    trace, or a record of a place in detail. The answer has the `path` of the waveforms, the `cycle` of the point, what
    happens there (`event`), and the `first` and `last` cycle shown; or the `record` in detail, whose cycles and
    instructions count from 0 at the begin of its `part`.

    Raises
    ------
    ValueError
        The place is malformed, an option lacks or excludes another one, or the run was not recorded.
    InputError
        The record, the checkpoint, the graph or a file cannot be used; the place is not in the run.
    SimulationError
        The machine could not be built, or the run failed before the point.
    """
    from cyscc.host.interface.life import words_of
    from cyscc.host.interface.recorded import folder_of, record_of, rerun_setting
    from cyscc.host.replay.replaying import WindowRequest

    setting = rerun_setting(recorded, graph, memory, threads, progress)
    checkpoint = None if checkpoint is None else fspath(checkpoint)
    if record_detail is not None:
        wanted_place = place_of("record-detail", record_detail)
        return _in_detail(record_of(recorded), wanted_place, output, record_detail_interval, checkpoint, setting)
    place, path = None if at is None else place_of("replay", at), _waveforms(output)
    words, before, answer = words_of(life_of), before or 0, Replayed(title="")
    if place is None:
        writes = any(each is not None for each in (path, life, trace))
        answer, place, lead = _of_vertices(record_of(recorded), words, setting, several=not writes)
        if not writes:
            return answer
        before, words = before or lead, words if life is not None else []
    wanted = WindowRequest(
        point=place,
        cycles=_length(place, cycles),
        before=before,
        path=path,
        scopes=tuple(scopes),
        executor=executor,
        kernels=tuple(word for word in words if not word.isdecimal()),
    )
    if trace is not None:
        answer = _with_trace(answer, record_of(recorded), wanted, fspath(trace), setting, checkpoint)
        if path is None and life is None:
            return answer
    life = None if life is None else fspath(life)
    return _with_window(answer, folder_of(recorded), wanted, words, life, setting, checkpoint)


def _waveforms(output: Any) -> Path | None:
    """Return the file of the waveforms, if it is given."""
    if output is not None and fspath(output) == STANDARD_OUTPUT:
        raise SpecError("", "-o needs a file")
    if output is not None and Path(output).suffix not in (".fst", ".vcd"):
        raise SpecError("", f"-o writes waveforms, which end in .fst or .vcd: {output}")
    return None if output is None else Path(output)


def _length(place: "Place", cycles: int | None) -> int:
    """Return the cycles of a window: those of its place, if it has some."""
    if place.cycles is None or place.cycles[0] == place.cycles[1]:
        return cycles or _CYCLES
    if cycles is not None:
        raise SpecError("cycles", f"{place} has cycles of its own")
    return place.cycles[1] - place.cycles[0] + 1


def _in_detail(
    record: "Record", place: "Place", output: Any, interval: int | None, checkpoint: Any, setting: "RerunSetting"
) -> Replayed:
    """Record a place in detail."""
    from cyscc.host.replay.parts import record_place

    folder = None if output is None else Path(output)
    made = record_place(record, place, setting, output=folder, interval=interval, checkpoint=checkpoint)
    assert made.part is not None, "it is that of a place"
    begin, end = made.part
    return Replayed(
        title=f"{made.folder}: cycles {begin:,} to {end - 1:,} in intervals of {made.interval}",
        fields={"place": str(place), "folder": str(made.folder), "begin": begin, "end": end, "interval": made.interval},
        record=made,
    )


def _of_vertices(
    record: "Record", words: Sequence[str], setting: "RerunSetting", *, several: bool
) -> tuple[Replayed, "Place", int]:
    """Return the lives of vertices, the place of the first one's first visit, and cycles to show before it."""
    from cyscc.host.interface.life import lives_answer, vertices_of
    from cyscc.host.replay.life import vertex_lives
    from cyscc.host.specification.place import Place

    if not words:
        raise SpecError("", "give a place (--at PLACE), or the vertices whose life is to be shown (--life-of V)")
    vertices = vertices_of(words, "--life-of")
    if len(vertices) > 1 and not several:
        raise SpecError("", "-o, --life and --trace are of one window: give one vertex, or --at")
    lives = vertex_lives(record, vertices, setting)
    shown, history = lives_answer(record, lives), lives[0].history
    lead = 0
    if lives[0].windows and history.visit is not None:
        lead = int(history.events.loc[history.visit]["cycle"]) - lives[0].windows[0].lives.first
    parts = ("title", "facts", "said", "tables", "fields")
    answer = Replayed(**{name: getattr(shown, name) for name in parts})
    return answer, Place(vertex=vertices[0]), lead


def _with(answer: Replayed, place: "Place", found: Any, said: Sequence[str], **further: Any) -> Replayed:
    """Return an answer with sentences on a window of a place that was found."""
    event = f": {found.event}" if found.event else ""
    where = [] if place.cycles is not None else [f"{place} is at cycle {found.cycle:,}{event}"]
    lines = [*answer.said, *(line for line in where if line != answer.title), *said]
    title, *lines = lines if not answer.title else [answer.title, *lines]
    window = {"place": str(place), "cycle": found.cycle, "event": found.event, "first": found.first, "last": found.last}
    return replace(answer, title=title, said=lines, fields={**answer.fields, **window}, **further)


def _with_trace(
    answer: Replayed, record: "Record", wanted: "WindowRequest", path: str, setting: "RerunSetting", checkpoint: Any
) -> Replayed:
    """Write the trace of a window."""
    from cyscc.host.output.text import count_text
    from cyscc.host.replay.trace import trace_window

    window = {"cycles": wanted.cycles, "before": wanted.before, "checkpoint": checkpoint}
    traced = trace_window(record, wanted.point, path, setting, **window)
    cycles = f"cycles {traced.first:,} to {traced.last:,}"
    return _with(answer, wanted.point, traced, [f"{path}: {cycles}, {count_text(traced.slices, 'slice')} of kernels"])


def _with_window(
    answer: Replayed,
    folder: Path,
    wanted: "WindowRequest",
    words: Sequence[str],
    life: str | None,
    setting: "RerunSetting",
    checkpoint: Any,
) -> Replayed:
    """Write the waveforms of a window, and the lives there, if they are wanted."""
    from shlex import quote

    from cyscc.host.output.text import bytes_text
    from cyscc.host.replay.replaying import replay_window
    from cyscc.sim.observation.waves.views import VIEWS

    window = replay_window(folder, wanted, setting, checkpoint=checkpoint)
    tables = {}
    if life is not None or words:
        try:
            tables = _lives(window, words, life, setting)
        except BaseException:
            window.remove()
            raise
    path = window.path
    waves, gtkw, sucl = (quote(str(path.with_suffix(each))) for each in (path.suffix, *VIEWS))
    said = [
        f"{path}: cycles {window.first:,} to {window.last:,}, {bytes_text(path.stat().st_size)}",
        f"open it with: gtkwave {waves} {gtkw}   or: surfer -c {sucl} {waves}",
    ]
    made = _with(answer, wanted.point, window, said, tables={**answer.tables, **tables}, path=path)
    return replace(made, fields={**made.fields, "waves": str(path)})


def _lives(window: "Window", words: Sequence[str], file: str | None, setting: "RerunSetting") -> "dict[str, Table]":
    """Write the lives of a window as Kanata text, if a file is given; otherwise return their tables."""
    from cyscc.host.analysis.lives import MissingLifeError, chosen_lives, name_lives, write_kanata
    from cyscc.host.interface.life import life_tables
    from cyscc.host.output.errors import InputError

    directions = {address: [graph] for address, graph in window.directions().items()}
    with setting.progress.step("reading the waveforms"):
        try:
            shown, lives = chosen_lives(
                window.path, of=words, option="--life-of", name=lambda lives: name_lives(lives, directions)
            )
        except MissingLifeError as error:
            raise InputError(f"{error.cause}; without --at, its whole life is found", path=error.path) from None
    if file is None:
        return life_tables([({}, lives)])
    write_kanata(file, shown, lives)
    return {}
