"""`replay`: a recorded run made again, for waveforms, traces, lives, records of a place; `life`: lives of vertices."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from cyscc.host.answer.answer import Answer, Column, Table
from cyscc.host.interface import notes
from cyscc.host.interface.given import folder_of, record_of, rerun_setting
from cyscc.host.output.errors import InputError, locating_errors
from cyscc.host.output.files import STANDARD_OUTPUT, Content
from cyscc.host.output.progress import Progress
from cyscc.host.output.text import bytes_text, count_text
from cyscc.host.specification.ask import Ask, Rule, SpecError, question
from cyscc.host.specification.place import Place
from cyscc.host.specification.run import option_of
from cyscc.hw.values import plain
from cyscc.sim.executors.names import EXECUTORS

if TYPE_CHECKING:
    from cyscc.host.record.reader import Record
    from cyscc.host.replay.life import VertexLife
    from cyscc.host.replay.replaying import Window, WindowRequest
    from cyscc.host.runs.rerun import RerunSetting
    from cyscc.sim.observation.life import Life, Lives

_CYCLES = 1000
"""Cycles of a window, unless a number or the place says otherwise."""

At = Annotated[
    "Place | str | int | None",
    Ask("a cycle, FIRST:LAST, level=3, vertex=V, cause=slot,longer=60,level=4, ...", "PLACE", flag="--at"),
]
Waves = Annotated[
    notes.MaybeFile,
    Ask(
        "the waveforms, .fst or .vcd (default: DIR-CYCLE.fst); a folder for --record-detail (DIR/detail)",
        "OUT.fst",
        flag="--output",
        short="-o",
    ),
]
Cycles = Annotated[int | None, Ask(f"cycles to record (default: the place's, or {_CYCLES})", "N", low=1)]
Before = Annotated[int, Ask("begin N cycles earlier (default: {default})", "N", low=0)]
Scopes = Annotated[Sequence[str], option_of("scopes")]
LifeFile = Annotated[
    notes.MaybeFile, Ask("write the lives of the window's queue entries, for Konata", "OUT", writes=Content.LIVES)
]
LifeOf = Annotated[
    "int | str | Sequence[int | str]",
    Ask(
        "without --at: vertices whose whole life is shown; with it: only these lives of the window, as life --of",
        "WHAT",
        count="+",
    ),
]
Trace = Annotated[
    notes.MaybeFile,
    Ask(
        "write each cycle of the kernels in the window, each memory access, for Perfetto; waveforms only with -o",
        "OUT.pftrace",
        writes=Content.TRACE,
    ),
]
Detail = Annotated["Place | str | None", option_of("record_detail")]
Interval = Annotated[int | None, option_of("record_detail_interval")]
From = Annotated[Any, Ask("start from the checkpoint in this folder", "DIR", flag="--from")]
Executor = Annotated[str | None, Ask("simulator of the recorded cycles (default: as in the run)", choices=EXECUTORS)]


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
)
def replay(
    recorded: notes.Recorded,
    at: At = None,
    output: Waves = None,
    *,
    cycles: Cycles = None,
    before: Before = 0,
    scopes: Scopes = (),
    life: LifeFile = None,
    life_of: LifeOf = (),
    trace: Trace = None,
    record_detail: Detail = None,
    record_detail_interval: Interval = None,
    checkpoint: From = None,
    executor: Executor = None,
    **again: Unpack[notes.Again],
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

    Examples
    --------
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
    """
    from cyscc.host.replay.replaying import WindowRequest

    setting = rerun_setting(recorded, **again)
    checkpoint = None if checkpoint is None else fspath(checkpoint)
    if record_detail is not None:
        wanted_place = notes.place_of("record-detail", record_detail)
        return _in_detail(record_of(recorded), wanted_place, output, record_detail_interval, checkpoint, setting)
    place, path = None if at is None else notes.place_of("replay", at), _waveforms(output)
    words, before, answer = _words(life_of), before or 0, Replayed(title="")
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


def _length(place: Place, cycles: int | None) -> int:
    """Return the cycles of a window: those of its place, if it has some."""
    if place.cycles is None or place.cycles[0] == place.cycles[1]:
        return cycles or _CYCLES
    if cycles is not None:
        raise SpecError("cycles", f"{place} has cycles of its own")
    return place.cycles[1] - place.cycles[0] + 1


def _in_detail(
    record: "Record", place: Place, output: Any, interval: int | None, checkpoint: Any, setting: "RerunSetting"
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
) -> tuple[Replayed, Place, int]:
    """Return the lives of vertices, the place of the first one's first visit, and cycles to show before it."""
    from cyscc.host.replay.life import vertex_lives

    if not words:
        raise SpecError("", "give a place (--at PLACE), or the vertices whose life is to be shown (--life-of V)")
    vertices = _vertices(words, "--life-of")
    if len(vertices) > 1 and not several:
        raise SpecError("", "-o, --life and --trace are of one window: give one vertex, or --at")
    lives = vertex_lives(record, vertices, setting)
    shown, history = _lives_answer(record, lives), lives[0].history
    lead = 0
    if lives[0].windows and history.visit is not None:
        lead = int(history.events.loc[history.visit]["cycle"]) - lives[0].windows[0].lives.first
    parts = ("title", "facts", "said", "tables", "fields")
    answer = Replayed(**{name: getattr(shown, name) for name in parts})
    return answer, Place(vertex=vertices[0]), lead


def _with(answer: Replayed, place: Place, found: Any, said: Sequence[str], **further: Any) -> Replayed:
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
    from cyscc.host.replay.replaying import replay_window
    from cyscc.sim.observation.waves.views import VIEWS

    window = replay_window(folder, wanted, setting, checkpoint=checkpoint)
    tables = {}
    if life is not None or words:
        try:
            tables = _lives_there(window, words, life, setting)
        except BaseException:
            window.remove()
            raise
    path = window.path
    waves, gtkw, sucl = (shlex.quote(str(path.with_suffix(each))) for each in (path.suffix, *VIEWS))
    said = [
        f"{path}: cycles {window.first:,} to {window.last:,}, {bytes_text(path.stat().st_size)}",
        f"open it with: gtkwave {waves} {gtkw}   or: surfer -c {sucl} {waves}",
    ]
    made = _with(answer, wanted.point, window, said, tables={**answer.tables, **tables}, path=path)
    return replace(made, fields={**made.fields, "waves": str(path)})


def _lives_there(window: "Window", words: Sequence[str], file: str | None, setting: "RerunSetting") -> dict[str, Table]:
    """Write the lives of a window as Kanata text, if a file is given; otherwise return their tables."""
    from cyscc.host.analysis.lives import MissingLifeError, chosen_lives, name_lives, write_kanata

    directions = {address: [graph] for address, graph in window.directions().items()}
    with setting.progress.step("reading the waveforms"):
        try:
            shown, lives = chosen_lives(
                window.path, of=words, option="--life-of", name=lambda lives: name_lives(lives, directions)
            )
        except MissingLifeError as error:
            raise InputError(f"{error.cause}; without --at, its whole life is found", path=error.path) from None
    if file is None:
        return _life_tables([({}, lives)])
    write_kanata(file, shown, lives)
    return {}


_ROWS = 24
"""Most single lives and events that are shown, unless another number is given."""

Source = Annotated[
    notes.AnyRecord,
    Ask("what --waves wrote: .vcd or .fst; or the folder that --record wrote", "WAVES|DIR", reads="the waveforms"),
]
Of = Annotated[
    "int | str | Sequence[int | str]",
    Ask("only a vertex, a kernel such as engine0.bfs3, a pattern with *", "WHAT", flag="--of", count="+"),
]
Kanata = Annotated[
    notes.MaybeFile,
    Ask("write Kanata text, for Konata ('-': standard output)", "OUT", short="-o", writes=Content.LIVES),
]
Named = Annotated[
    notes.MaybeGraph,
    Ask("the graph of the run: names vertices as its file, and identifies more of them", "FILE", reads="the graph"),
]
First = Annotated[int | None, Ask("only the first N selected queue entries", "N", low=1)]
Rows = Annotated[int, Ask("maximum single lives listed (default: {default})", "N", low=1)]


@question(
    rules=(Rule(("undirected",), needs=("graph",)),),
)
def life(
    source: Source,
    of: Of = (),
    *,
    output: Kanata = None,
    graph: Named = None,
    undirected: notes.Undirected = False,
    first: First = None,
    top: Rows = _ROWS,
    memory: notes.MemoryAgain = None,
    threads: notes.Threads = None,
    progress: notes.Wanted = False,
) -> Answer:
    """Show the life of queue entries in a waveform file, or of vertices in a recorded run.

    The signals of a waveform file tell how entries of the queues, and the neighbours that come of them, went through
    the processes of their kernels. A recorded run is made again, and tells every event of a vertex, and its stages
    around its first visit, as ``cyscc replay --life-of`` does. The answer has a row of ``stages`` for each stage of
    each item, and of ``events`` for each event of a vertex.

    Raises
    ------
    ValueError
        The run was not recorded, or an option is not one of its source.
    InputError
        A file without waveforms, or without the requested part; a record or a graph that cannot be used.
    SimulationError
        The run that is made again failed.

    Notes
    -----
    The text is for Konata, a viewer of pipelines: https://github.com/shioyadan/Konata

    Examples
    --------
    cyscc bfs random.gr --source 1 --waves run.vcd --wave-window 20000:22000 --record seen
    cyscc life run.vcd
    cyscc life run.vcd -o run.kanata --of engine0.bfs3
    cyscc life run.vcd --graph random.gr --of 4711
    cyscc life seen --of 4711
    """
    words = _words(of)
    if not isinstance(source, str | PathLike) or Path(source).is_dir():
        from cyscc.host.replay.life import vertex_lives

        if output is not None or first is not None:
            name = "first" if output is None else "output"
            raise SpecError(name, "is for waveforms; cyscc replay --life OUT writes those of a record's window")
        record, vertices = record_of(source), _vertices(words, "--of")
        setting = rerun_setting(source, graph=graph, memory=memory, threads=threads, progress=progress)
        return _lives_answer(record, vertex_lives(record, vertices, setting), top=top)
    return _of_waveforms(Path(source), words, output, graph, undirected, first, top, progress)


def _of_waveforms(
    waves: Any, words: list[str], output: Any, graph: Any, undirected: bool, first: int | None, top: int, progress: Any
) -> Answer:
    from cyscc.host.analysis.lives import chosen_lives, directions_of, name_lives, window_text, write_kanata
    from cyscc.host.graph.csr import Graph
    from cyscc.host.graph.formats import read_graph
    from cyscc.sim.notices import notice

    def name(lives: "Lives") -> None:
        named = graph if isinstance(graph, Graph) else read_graph(str(graph), undirected=undirected, on_note=notice)
        with locating_errors(path=None if isinstance(graph, Graph) else str(graph)):
            name_lives(lives, directions_of(lives, named))

    with Progress.of(progress).step("reading the waveforms"):
        window, lives = chosen_lives(waves, of=words, first=first, option="--of", name=None if graph is None else name)
    if output is not None:
        write_kanata(str(output), window, lives)
    return Answer(
        title=window_text(window, lives),
        tables=_life_tables([({}, lives)], top=top),
        fields={"first": window.first, "cycles": window.cycles, "kernels": list(window.kernels)},
    )


def _life_tables(parts: "Sequence[tuple[Mapping[str, Any], Sequence[Life]]]", *, top: int = _ROWS) -> dict[str, Table]:
    """Return the tables on lives: their ends, the time in each stage, the single lives, and all of their stages.

    Parameters
    ----------
    parts : sequence of (mapping, sequence of Life)
        Columns that tell parts of the lives from others, and the lives.
    top : int
        Most single lives that are shown.
    """
    from cyscc.host.analysis.lives import ends_of, lines_of, stages_of, times_of

    def told(rows_of: Any) -> list[dict[str, Any]]:
        return [{**labels, **row} for labels, lives in parts for row in rows_of(lives)]

    every = [life for _, lives in parts for life in lives]
    several = len({labels.get("life_of") for labels, _ in parts}) > 1
    ends = {"items": "{}", "ended": "{}", "number": "{:,}"}
    times = {"stage": Column(), "item": Column("the item"), "items": Column(form="{:,}")}
    times |= {
        "mean": Column("mean cycles", "{:,.1f}"),
        "most": Column(form="{:,}"),
        "waits": Column("cycles waited for"),
    }
    lines = {**({"life_of": "{}"} if several else {}), "from": "{:,}", "to": "{:,}"}
    lines |= dict.fromkeys(("kernel", "item", "vertex", "ended", "stages"), "{}")
    return {
        "ends": Table(title="ends", frame=ends_of(every), columns=ends, most=None),
        "times": Table(title="time in each stage", frame=times_of(every), columns=times, most=None),
        "lives": Table(title="lives", frame=told(lines_of), columns=lines, most=top),
        "stages": Table(title="stages", frame=told(stages_of), shown=False),
    }


def _words(given: Any) -> list[str]:
    """Return the texts of one word or number, or of several."""
    return [
        str(plain(each)) for each in ((given,) if isinstance(given, str) or not isinstance(given, Iterable) else given)
    ]


def _vertices(words: Sequence[str], option: str) -> list[int]:
    """Return the vertices that an option names.

    Raises
    ------
    SpecError
        A word is no vertex, or there is none.
    """
    if not words:
        raise SpecError("", f"{option} names the vertices of a record")
    for word in words:
        if not word.isdecimal():
            raise SpecError("", f"{option}: {word!r} is no vertex, a number; kernels are of waveforms")
    return [int(word) for word in words]


def _lives_answer(record: "Record", found: "Sequence[VertexLife]", *, top: int = _ROWS) -> Answer:
    """Return the lives of vertices as an answer."""
    several = len(found) > 1
    documents, titles, facts = [_document(each) for each in found], [_title(each) for each in found], _facts(found[0])
    if several:
        facts = {
            title: "; ".join(map(" ".join, _facts(each).items())) for title, each in zip(titles, found, strict=True)
        }
    parts = [
        ({"life_of": each.history.vertex, "window": window.about}, window.own)
        for each in found
        for window in each.windows
    ]
    untold = dict.fromkeys(each.untold for each in found if each.untold)
    return Answer(
        title=f"{record.folder}: {len(found)} vertices" if several else titles[0],
        facts=facts,
        said=[f"stages in BFS kernels are missing: {why}" for why in untold],
        tables={"events": _events(record, found, top), **(_life_tables(parts, top=top) if parts else {})},
        fields={**({} if several else documents[0]), "vertices": documents},
    )


def _document(life: "VertexLife") -> dict[str, Any]:
    """Return what is known of a vertex, without its events and stages."""
    history = life.history
    return {
        "vertex": history.vertex,
        "out_degree": history.out_degree,
        "in_degree": history.in_degree,
        "first_visit": history.visit,
        "absent": history.absent or None,
        "windows": [
            {
                "about": window.about,
                "first": window.lives.first,
                "last": window.lives.first + window.lives.cycles - 1,
                "kernels": list(window.lives.kernels),
            }
            for window in life.windows
        ],
        "untold": life.untold or None,
    }


def _title(life: "VertexLife") -> str:
    history = life.history
    return f"vertex {history.vertex}: {count_text(history.out_degree, 'edge')} out, {history.in_degree:,} in"


def _facts(life: "VertexLife") -> dict[str, str]:
    """Return the first visit of a vertex, and the windows in which its stages are told."""
    from cyscc.host.analysis.lives import window_text
    from cyscc.host.replay.vertices import kernel_name

    history = life.history
    if history.visit is None:
        return {"never visited": history.absent}
    visit = history.events.loc[history.visit]
    how = "first visited" if visit["event"] == "visited" else "source of a search, read"
    level = "" if visit["level"] < 0 else f"level {visit['level']}"
    where = f"{visit['phase']}, {level}, iteration {visit['iteration']}" if visit["iteration"] else level
    of = "" if visit.isna()["of"] else f", as a neighbour of {visit['of']}"
    return {
        how: f"in cycle {visit['cycle']:,} ({where}) by {kernel_name(visit)}{of}",
        **{window.about: window_text(window.lives, window.own) for window in life.windows},
    }


def _events(record: "Record", found: "Sequence[VertexLife]", top: int) -> Table:
    """Return the table of the events: reads that find a vertex visited are shown only as long as there is room."""
    import pandas as pd

    from cyscc.host.replay.vertices import kernel_name

    frames = []
    for life in found:
        events = life.history.events
        took = events["answered"] - events["cycle"]
        frames.append(
            events.assign(
                life_of=life.history.vertex,
                number=events.index,
                where=[kernel_name(event) for event in events.to_dict("records")],
                memory=took,
                waiting=(took - life.history.latency).clip(lower=0),
                at_level=events["level"].where(events["level"] >= 0).astype("Int64"),
                repeated=events["event"].isin(["id_read", "word_read"]) & (events.index > (life.history.visit or 0)),
            )
        )
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    shown = sorted(frame.sort_values("repeated", kind="stable").index[:top])
    frame = frame.drop(columns="repeated")
    if "bank" in frame:
        frame["part"] = [f"{each.controller}.{each.bank}" for each in frame.itertuples()]
    columns = {"life_of": Column("vertex")} if len(found) > 1 else {}
    columns |= {"number": Column("no"), "cycle": Column(form="{:,}")}
    columns |= {"iteration": Column(), "phase": Column()} if (frame["iteration"] > 0).any() else {}
    columns |= {"at_level": Column("level"), "where": Column("kernel"), "text": Column("event")}
    columns |= {"memory": Column(), "waiting": Column(), "part": Column("bank", left=False)}
    at = f"{shlex.quote(str(record.folder))} --at vertex={found[0].history.vertex},nth=N"
    note = f"to see event N: cyscc replay {at}" if len(frame) else ""
    return Table(title="events", frame=frame, columns=columns, rows=shown, note=note)
