"""`events`: events of a recorded run."""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from cyscc.host.analysis.event_kinds import KINDS, LONGER, TOP, EventQuery
from cyscc.host.answer.answer import Answer, Column, Table
from cyscc.host.interface import notes
from cyscc.host.interface.given import FORMS, record_of, rerun_setting
from cyscc.host.specification.ask import SpecError, question

if TYPE_CHECKING:
    import pandas as pd

    from cyscc.host.analysis.events import FoundEvents

ALL_KINDS = ", ".join(KINDS)
_SHOWN, _SHOWN_ALONE = 5, 20
"""Most rows of a kind's table, unless another number is given, if there are several kinds, or one."""


@question()
def events(
    recorded: notes.AnyRecord,
    kind: str | Sequence[str] = (),
    *,
    at: notes.AnyPlace = None,
    longer: int | None = None,
    replay: bool = False,
    iteration: notes.Range = None,
    phase: str | None = None,
    level: notes.Range = None,
    engine: int | None = None,
    module: str | None = None,
    kernel: int | None = None,
    cause: str | None = None,
    fifo: str | None = None,
    bank: Any = None,
    sort: str = "size",
    top: int | None = None,
    **again: Unpack[notes.Again],
) -> Answer:
    """List the events of a recorded run: long waits, full FIFOs, hot banks, overflows.

    Each comes with the command that shows it: hottest banks, links and ports, full FIFOs, vertices pushed again,
    overflows; and with the run made again, long waits, and the vertices. The answer has a table of each kind, and
    ``events``, all of them; ``kernels``, first and longest of each kernel; and if the run was made again, ``hottest``:
    what was accessed in the bank of the first event of this kind.

    Raises
    ------
    ValueError
        There is no such kind, cause or order, a kind has no such place, or the run was not recorded.
    InputError
        The record or the graph cannot be used, or the run has no such place.
    SimulationError
        The run that is made again failed.

    Examples
    --------
    cyscc bfs random.gr --source 1 --record seen
    cyscc events seen
    cyscc events seen --kind bank --top 10
    cyscc events seen --at 20000:30000,bank=3.17
    cyscc events seen --kind fifo --fifo words --sort time
    cyscc events seen --level 4 --json events.json --quiet
    cyscc events seen --longer 200
    cyscc events seen --at cause=slot,longer=200,engine=0,kernel=3 --sort time
    cyscc events seen --kind duplicate overflow --replay
    """
    given = {"iteration": iteration, "phase": phase, "level": level, "engine": engine, "module": module}
    place = notes.place_of("events", at, **given, kernel=kernel, cause=cause, fifo=fifo, bank=bank)
    kinds = (kind,) if isinstance(kind, str) else tuple(kind)
    try:
        query = EventQuery(kinds=kinds, place=place, longer=longer, replay=replay, order=sort, top=top or TOP)
    except ValueError as error:
        raise SpecError("", str(error)) from None
    from cyscc.host.record.display import record_title, run_document, selection_facts
    from cyscc.host.replay.events import events_of

    setting = rerun_setting(recorded, **again)
    with setting.progress.step("reading the record"):
        record = record_of(recorded)
    found = events_of(record, query, setting)
    most = top or (_SHOWN if len(found.found) > 1 else _SHOWN_ALONE)
    tables = {kind: _kind_table(found, kind, most, query.order) for kind in found.found}
    tables |= {"firsts": _firsts(found.kernels)} if len(found.kernels) else {}
    if (hottest := found.hottest) is not None:
        shares = hottest.assign(share=hottest["accesses"] / hottest["accesses"].sum()).head(TOP)
        tables["hottest"] = FORMS.table("hottest", shares, found.of("bank").iloc[0].to_dict(), most=most)
    tables |= {
        "events": FORMS.table("events", found.frame),
        "kernels": FORMS.table("kernels", found.kernels),
    }
    _, widened = query.place.widened(record.interval)
    advice = (
        f"cyscc events {shlex.quote(str(record.folder))} --longer {LONGER} makes the run again, and lists long waits"
    )
    return Answer(
        title=record_title(record),
        facts=selection_facts(record, record.instructions),
        said=[
            *filter(None, [widened]),
            *(
                f"{KINDS[kind].title}: none; {nearest.text}" + (f"\n  {nearest.command}" if nearest.command else "")
                for kind, nearest in found.nearest.items()
            ),
            *([] if query.replayed else [advice]),
        ],
        tables=tables,
        fields={
            **run_document(record),
            "place": str(query.place),
            "order": query.order,
            "replayed": query.replayed,
            "kinds": {
                kind: {
                    "about": KINDS[kind].about,
                    "unit": KINDS[kind].unit,
                    "found": count,
                    **({"nearest": found.nearest[kind]._asdict()} if kind in found.nearest else {}),
                }
                for kind, count in found.found.items()
            },
        },
    )


def _kind_table(found: "FoundEvents", kind: str, most: int, order: str) -> Table:
    """Return the table of the events of a kind; the instruction is last, as that column wraps on narrow terminals."""
    from cyscc.host.record.display import instruction_text

    rows = found.of(kind)
    every = rows.dropna(axis="columns", how="all").reset_index(drop=True)
    cells = rows.to_dict("records")
    attempts = found.record.attempts
    every["where"] = [_kernel(row) for row in cells]
    every["part"] = [_part(kind, row) for row in cells]
    every["in"] = [
        "host" if row["instruction"] < 0 else instruction_text(attempts.loc[row["instruction"]]) for row in cells
    ]
    if "use" in every:
        # Accesses count when their port takes them, which may be faster than they are served.
        every["use"] = every["use"].clip(upper=1)
    total, by_size = found.found[kind], order == "size" and rows["amount"].notna().all()
    unit = "pushes" if kind == "duplicate" and bool(rows["exact"].all()) else KINDS[kind].unit
    which = f", the {'largest' if by_size else 'first'} of {total:,}" if total > min(most, len(rows)) else ""
    cycle = "word read" if kind == "overflow" and "vertex" in every else "cycle"
    heads = {"cycle": cycle, "part": "bank", "amount": unit, "use": "busy", "about": " ", **KINDS[kind].heads}
    shares = {"amount": Column(heads["amount"], "{:.1%}")} if unit.startswith("of ") else {}
    note = str(rows["command"].iloc[0]) if len(rows) else ""
    return FORMS.table(
        "kind", every, {"title": KINDS[kind].title + which, **heads}, columns=shares, most=most, note=note
    )


def _kernel(row: Mapping[Any, Any]) -> str | None:
    """Return the kernel, and its FIFO, that an event is of."""
    import pandas as pd

    fifo = row.get("fifo")
    kernel = f"engine{row['engine']}.{row['module']}{row['kernel']}"
    return None if pd.isna(row["kernel"]) else kernel if pd.isna(fifo) else f"{kernel} {fifo}"


def _part(kind: str, row: Mapping[Any, Any]) -> str | None:
    """Return the part of the memory that an event is of, or the bank of its access."""
    import pandas as pd

    if kind == "link":
        return f"engine{row['engine']} link {row['link']}"
    return ".".join(f"{row[name]}" for name in ("controller", "bank") if not pd.isna(row[name])) or None


def _firsts(kernels: "pd.DataFrame") -> Table:
    """Return the table of the first and the longest events of each cause or FIFO, over the kernels."""
    frame = kernels.assign(where=[_kernel(row) for row in kernels.to_dict("records")])
    keys = ["kind", "name"]
    first = frame.sort_values("first", kind="stable").groupby(keys)[["first", "where"]].first()
    longest = frame.sort_values("longest", kind="stable").groupby(keys)[["longest", "longest_at", "where"]].last()
    longest = longest.rename(columns={"where": "where_longest"})
    counts = frame.groupby(keys)["found"].sum().rename("number").to_frame()
    return FORMS.table("firsts", counts.join(first).join(longest).reset_index())
