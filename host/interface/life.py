"""`life`: what happened to queue entries and vertices, from waveforms or from a record."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

from cyscc.host.interface.notes import MemoryAgain, Threads, Undirected, Wanted
from cyscc.host.output.files import Content
from cyscc.host.specification.ask import Ask, Rule, SpecError, question
from cyscc.hw.values import plain

if TYPE_CHECKING:
    import pandas as pd

    from cyscc.host.answer.answer import Answer, Table
    from cyscc.host.graph.csr import Graph
    from cyscc.host.record.reader import Record
    from cyscc.host.replay.life import VertexLife
    from cyscc.host.runs.results import Result
    from cyscc.sim.observation.life import Life, Lives

__all__ = ["life", "life_tables", "lives_answer", "vertices_of", "words_of"]

_ROWS = 24
"""Most single lives and events that are shown, unless another number is given."""

Source = Annotated[
    "Record | Result | str | PathLike[str]",
    Ask(help="what --waves wrote: .vcd or .fst; or the folder that --record wrote", metavar="WAVES|DIR"),
]
Of = Annotated[
    "int | str | Sequence[int | str]",
    Ask(help="only a vertex, a kernel such as engine0.bfs3, a pattern with *", metavar="WHAT", flag="--of", count="+"),
]
Output = Annotated[
    "str | PathLike[str] | None",
    Ask(help="write Kanata text, for Konata ('-': standard output)", metavar="OUT", short="-o", writes=Content.LIVES),
]
Named = Annotated[
    "Graph | str | PathLike[str] | None",
    Ask(help="the graph of the run: names vertices as its file, and identifies more of them", metavar="FILE"),
]
First = Annotated[int | None, Ask(help="only the first N selected queue entries", metavar="N", low=1)]
Rows = Annotated[int, Ask(help="maximum single lives listed (default: {default})", metavar="N", low=1)]


@question(
    rules=(Rule(("undirected",), needs=("graph",)),),
    examples="""examples:
  cyscc bfs random.gr --source 1 --waves run.vcd --wave-window 20000:22000 --record seen
  cyscc life run.vcd
  cyscc life run.vcd -o run.kanata --of engine0.bfs3
  cyscc life run.vcd --graph random.gr --of 4711
  cyscc life seen --of 4711

The text is for Konata, a viewer of pipelines: https://github.com/shioyadan/Konata
""",
)
def life(
    source: Source,
    of: Of = (),
    *,
    output: Output = None,
    graph: Named = None,
    undirected: Undirected = False,
    first: First = None,
    top: Rows = _ROWS,
    memory: MemoryAgain = None,
    threads: Threads = None,
    progress: Wanted = False,
) -> "Answer":
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
    """
    from pathlib import Path

    words = words_of(of)
    if not isinstance(source, str | PathLike) or Path(source).is_dir():
        from cyscc.host.interface.recorded import record_of, rerun_setting
        from cyscc.host.replay.life import vertex_lives

        if output is not None or first is not None:
            name = "first" if output is None else "output"
            raise SpecError(name, "is for waveforms; cyscc replay --life OUT writes those of a record's window")
        record, vertices = record_of(source), vertices_of(words, "--of")
        setting = rerun_setting(source, graph, memory, threads, progress)
        return lives_answer(record, vertex_lives(record, vertices, setting), top=top)
    return _of_waveforms(Path(source), words, output, graph, undirected, first, top, progress)


def _of_waveforms(
    waves: Any, words: list[str], output: Any, graph: Any, undirected: bool, first: int | None, top: int, progress: Any
) -> "Answer":
    from cyscc.host.analysis.lives import chosen_lives, directions_of, name_lives, window_text, write_kanata
    from cyscc.host.answer.answer import Answer
    from cyscc.host.graph.csr import Graph
    from cyscc.host.graph.formats import read_graph
    from cyscc.host.output.errors import locating_errors
    from cyscc.host.output.progress import Progress
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
        tables=life_tables([({}, lives)], top=top),
        fields={"first": window.first, "cycles": window.cycles, "kernels": list(window.kernels)},
    )


def life_tables(parts: "Sequence[tuple[Mapping[str, Any], Sequence[Life]]]", *, top: int = _ROWS) -> "dict[str, Table]":
    """Return the tables on lives: their ends, the time in each stage, the single lives, and all of their stages.

    Parameters
    ----------
    parts : sequence of (mapping, sequence of Life)
        Columns that tell parts of the lives from others, and the lives.
    top : int
        Most single lives that are shown.
    """
    import pandas as pd

    from cyscc.host.analysis.lives import ends_of, lines_of, stages_of, times_of
    from cyscc.host.answer.answer import Column, Table

    def frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
        made = pd.DataFrame(rows)
        return made.astype(dict.fromkeys([name for name in ("vertex", "to", "cycles") if name in made], "Int64"))

    def told(rows_of: Any) -> "pd.DataFrame":
        return frame([{**labels, **row} for labels, lives in parts for row in rows_of(lives)])

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
        "ends": Table(title="ends", frame=frame(ends_of(every)), columns=ends, most=None),
        "times": Table(title="time in each stage", frame=frame(times_of(every)), columns=times, most=None),
        "lives": Table(title="lives", frame=told(lines_of), columns=lines, most=top),
        "stages": Table(title="stages", frame=told(stages_of), shown=False),
    }


def words_of(given: Any) -> list[str]:
    """Return the texts of one word or number, or of several."""
    return [
        str(plain(each)) for each in ((given,) if isinstance(given, str) or not isinstance(given, Iterable) else given)
    ]


def vertices_of(words: Sequence[str], option: str) -> list[int]:
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


def lives_answer(record: "Record", found: "Sequence[VertexLife]", *, top: int = _ROWS) -> "Answer":
    """Return the lives of vertices as an answer."""
    from cyscc.host.answer.answer import Answer

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
        tables={"events": _events(record, found, top), **(life_tables(parts, top=top) if parts else {})},
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
    from cyscc.host.output.text import count_text

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


def _events(record: "Record", found: "Sequence[VertexLife]", top: int) -> "Table":
    """Return the table of the events: reads that find a vertex visited are shown only as long as there is room."""
    import shlex

    import pandas as pd

    from cyscc.host.answer.answer import Column, Table
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
