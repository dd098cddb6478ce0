"""`replay`: a recorded run made again, for waveforms, traces, events of vertices, records of a place."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from cyscc.host.answer.answer import Answer, Table
from cyscc.host.interface import notes
from cyscc.host.interface.given import FORMS, folder_of, record_of, rerun_setting
from cyscc.host.output.files import STANDARD_OUTPUT
from cyscc.host.output.text import bytes_text, count_text
from cyscc.host.specification.ask import SpecError, question
from cyscc.host.specification.place import Place
from cyscc.hw.values import plain

if TYPE_CHECKING:
    from cyscc.host.record.reader import Record
    from cyscc.host.replay.replaying import Window, WindowRequest
    from cyscc.host.replay.vertices import VertexHistory
    from cyscc.host.runs.rerun import RerunSetting

CYCLES = 1000
"""Cycles of a window, unless a number or the place says otherwise."""


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


@question()
def replay(
    recorded: notes.AnyRecord,
    at: notes.AnyPlace = None,
    output: notes.MaybeFile = None,
    *,
    cycles: int | None = None,
    before: int = 0,
    scopes: Sequence[str] = (),
    life_of: int | str | Sequence[int | str] = (),
    trace: notes.MaybeFile = None,
    requests: notes.MaybeFile = None,
    record_detail: Place | str | None = None,
    record_detail_interval: int | None = None,
    checkpoint: Any = None,
    executor: str | None = None,
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
    cyscc replay seen --record-detail level=3 --record-detail-interval 32
    cyscc replay seen --at level=3 --requests level3.csv
    """
    from cyscc.host.replay.replaying import WindowRequest

    setting = rerun_setting(recorded, **again)
    checkpoint = None if checkpoint is None else fspath(checkpoint)
    if record_detail is not None:
        wanted_place = notes.place_of("record-detail", record_detail)
        return _in_detail(record_of(recorded), wanted_place, output, record_detail_interval, checkpoint, setting)
    if requests is not None:
        return _with_requests(record_of(recorded), notes.place_of("replay", at), fspath(requests), checkpoint, setting)
    place, path = None if at is None else notes.place_of("replay", at), _waveforms(output)
    before, answer = before or 0, Replayed(title="")
    if place is None:
        answer, place, lead = _of_vertices(record_of(recorded), _vertices(life_of), setting, window=path or trace)
        if path is None and trace is None:
            return answer
        before = before or lead
    wanted = WindowRequest(
        point=place,
        cycles=_length(place, cycles),
        before=before,
        path=path,
        scopes=tuple(scopes),
        executor=executor,
        checkpoint=checkpoint,
    )
    if trace is not None:
        answer = _with_trace(answer, record_of(recorded), wanted, fspath(trace), setting)
        if path is None:
            return answer
    return _with_window(answer, folder_of(recorded), wanted, setting)


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
        return cycles or CYCLES
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


def _with_requests(record: "Record", place: Place, path: str, checkpoint: Any, setting: "RerunSetting") -> Replayed:
    """Write the requests of a place."""
    from cyscc.host.replay.parts import write_requests

    first, end, number = write_requests(record, place, path, setting, checkpoint=checkpoint)
    return Replayed(
        title=f"{path}: cycles {first:,} to {end - 1:,}, {count_text(number, 'request')}",
        fields={"place": str(place), "requests": path, "first": first, "last": end - 1, "number": number},
    )


def _of_vertices(
    record: "Record", vertices: Sequence[int], setting: "RerunSetting", *, window: Any
) -> tuple[Replayed, Place, int]:
    """Return the lives of vertices, the place of the first one's first visit, and cycles to show before it."""
    from cyscc.host.replay.vertices import vertex_lives

    if len(vertices) > 1 and window is not None:
        raise SpecError("", "-o and --trace are of one window: give one vertex, or --at")
    histories = vertex_lives(record, vertices, setting)
    return _lives_answer(record, histories), Place(vertex=vertices[0]), histories[0].lead


def _with(answer: Replayed, place: Place, window: "Window", said: Sequence[str], **further: Any) -> Replayed:
    """Return an answer with sentences on a window of a place that was found."""
    found, first, last = window
    event = f": {found.about}" if found.about else ""
    where = [] if place.cycles is not None else [f"{place} is at cycle {found.cycle:,}{event}"]
    lines = [*answer.said, *(line for line in where if line != answer.title), *said]
    title, *lines = lines if not answer.title else [answer.title, *lines]
    fields = {"place": str(place), "cycle": found.cycle, "event": found.about, "first": first, "last": last}
    return replace(answer, title=title, said=lines, fields={**answer.fields, **fields}, **further)


def _with_trace(
    answer: Replayed, record: "Record", wanted: "WindowRequest", path: str, setting: "RerunSetting"
) -> Replayed:
    """Write the trace of a window."""
    from cyscc.host.replay.trace import trace_window

    window, slices = trace_window(record, wanted, path, setting)
    cycles = f"cycles {window.first:,} to {window.last:,}"
    return _with(answer, wanted.point, window, [f"{path}: {cycles}, {count_text(slices, 'slice')} of kernels"])


def _with_window(answer: Replayed, folder: Path, wanted: "WindowRequest", setting: "RerunSetting") -> Replayed:
    """Write the waveforms of a window."""
    from cyscc.host.replay.replaying import replay_window
    from cyscc.sim.observation.waves.views import VIEWS

    window, path = replay_window(folder, wanted, setting)
    waves, gtkw, sucl = (shlex.quote(str(path.with_suffix(each))) for each in (path.suffix, *VIEWS))
    said = [
        f"{path}: cycles {window.first:,} to {window.last:,}, {bytes_text(path.stat().st_size)}",
        f"open it with: gtkwave {waves} {gtkw}   or: surfer -c {sucl} {waves}",
    ]
    made = _with(answer, wanted.point, window, said, path=path)
    return replace(made, fields={**made.fields, "waves": str(path)})


_ROWS = 24
"""Most events of vertices that are shown."""


def _vertices(given: Any) -> list[int]:
    """Return the vertices whose lives are asked for: one or several.

    Raises
    ------
    SpecError
        One is no number, or there is none.
    """
    several = isinstance(given, Iterable) and not isinstance(given, str)
    words = [str(plain(each)) for each in (given if several else (given,))]
    if not words:
        raise SpecError("", "give a place (--at PLACE), or the vertices whose life is to be shown (--life-of V)")
    for word in words:
        if not word.isdecimal():
            raise SpecError("", f"--life-of: {word!r} is no vertex, a number")
    return [int(word) for word in words]


def _lives_answer(record: "Record", histories: "Sequence[VertexHistory]") -> Replayed:
    """Return the lives of vertices as an answer."""
    several = len(histories) > 1
    documents = [
        {
            "vertex": each.vertex,
            "out_degree": each.out_degree,
            "in_degree": each.in_degree,
            "first_visit": each.visit,
            "absent": each.absent or None,
        }
        for each in histories
    ]
    degrees = [f"{count_text(each.out_degree, 'edge')} out, {each.in_degree:,} in" for each in histories]
    titles = [f"vertex {each.vertex}: {text}" for each, text in zip(histories, degrees, strict=True)]
    facts = _facts(histories[0])
    if several:
        facts = {
            title: "; ".join(map(" ".join, _facts(each).items())) for title, each in zip(titles, histories, strict=True)
        }
    return Replayed(
        title=f"{record.folder}: {len(histories)} vertices" if several else titles[0],
        facts=facts,
        tables={"events": _events(record, histories), **_between(histories)},
        fields={**({} if several else documents[0]), "vertices": documents},
    )


def _facts(history: "VertexHistory") -> dict[str, str]:
    """Return the first visit of a vertex."""
    from cyscc.host.replay.finding import kernel_name

    if history.visit is None:
        return {"never visited": history.absent}
    visit = history.events.loc[history.visit]
    how = "first visited" if visit["event"] == "visited" else "source of a search, read"
    level = "" if visit["level"] < 0 else f"level {visit['level']}"
    where = f"{visit['phase']}, {level}, iteration {visit['iteration']}" if visit["iteration"] else level
    of = "" if visit.isna()["of"] else f", as a neighbour of {visit['of']}"
    return {how: f"in cycle {visit['cycle']:,} ({where}) by {kernel_name(visit)}{of}"}


def _events(record: "Record", histories: "Sequence[VertexHistory]") -> Table:
    """Return the table of the events: reads that find a vertex visited are shown only as long as there is room."""
    import pandas as pd

    from cyscc.host.replay.finding import kernel_name

    frames = []
    for history in histories:
        events = history.events
        took = events["answered"] - events["cycle"]
        frames.append(
            events.assign(
                life_of=history.vertex,
                number=events.index,
                where=[kernel_name(event) for event in events.to_dict("records")],
                memory=took,
                waiting=(took - history.latency).clip(lower=0),
                at_level=events["level"].where(events["level"] >= 0).astype("Int64"),
                repeated=history.repeated,
            )
        )
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    shown = sorted(frame.sort_values("repeated", kind="stable").index[:_ROWS])
    frame = frame.drop(columns="repeated")
    if "bank" in frame:
        frame["part"] = [f"{each.controller}.{each.bank}" for each in frame.itertuples()]
    left_out = [] if len(histories) > 1 else ["life_of"]
    left_out += [] if (frame["iteration"] > 0).any() else ["iteration", "phase"]
    at = f"{shlex.quote(str(record.folder))} --at vertex={histories[0].vertex},nth=N"
    note = f"to see event N: cyscc replay {at}" if len(frame) else ""
    return FORMS.table("life", frame, without=left_out, rows=shown, note=note)


def _between(histories: "Sequence[VertexHistory]") -> dict[str, Table]:
    """Return the tables of what kernels did and waited for between their events, in all and spell by spell."""
    import pandas as pd

    spells = pd.concat([each.spells.assign(life_of=each.vertex) for each in histories], ignore_index=True)
    if spells.empty:
        return {}
    event = ["life_of", "number"]
    sums = spells.groupby([*event, "cause"], observed=True)["cycles"].sum().reset_index()
    sums = sums.assign(text=sums["cause"].astype(str) + sums["cycles"].map(" {:,}".format))
    ordered = sums.sort_values("cycles", ascending=False, kind="stable")
    frame = ordered.groupby(event).agg(cycles=("cycles", "sum"), causes=("text", ", ".join)).reset_index()
    return {
        "meanwhile": FORMS.table("meanwhile", frame, without=[] if len(histories) > 1 else ["life_of"], most=_ROWS),
        "spells": FORMS.table("spells", spells),
    }
