"""Events of a record as text and JSON."""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cyscc.host.analysis.event_kinds import KINDS, LONGER, TOP
from cyscc.host.analysis.events import Events
from cyscc.host.analysis.explain.page import head, instruction_text, run_document
from cyscc.host.analysis.explain.terminal import as_html, as_text, section, table
from cyscc.host.output.files import identity
from cyscc.sim.notices import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["SHOWN", "events_document", "events_html", "events_page", "events_text"]

SHOWN = 5
"""Most rows of a kind's table, unless another number is given; of a single kind there are `SHOWN_ALONE`."""
SHOWN_ALONE = 20
_WIDTH = 100


def events_page(events: Events, *, top: int | None = None) -> "list[RenderableType]":
    """Return the events of a run, a table for each kind.

    Parameters
    ----------
    events : Events
        The events.
    top : int, optional
        Most rows of each table.
    """
    from rich.text import Text

    record = events.record
    parts = head(record, record.instructions)
    most = top or (SHOWN if len(events.found) > 1 else SHOWN_ALONE)
    for kind in events.found:
        rows = events.of(kind).head(most)
        title = f"{KINDS[kind].title}: "
        if rows.empty:
            parts += section(title + "none", *map(Text, filter(None, events.nearest[kind])))
            continue
        by_size = events.order == "size" and rows["amount"].notna().all()
        total, first = events.found[kind], "largest" if by_size else "first"
        title += f"{len(rows):,}, the {first} of {total:,}" if total > len(rows) else f"{total:,}"
        parts += section(title, _table(events, kind, rows), Text(str(rows["command"].iloc[0]), style="italic"))
        of_kernels = events.kernels[events.kernels["kind"] == kind]
        if len(of_kernels) and (of_kernels["name"].nunique() > 1 or total > len(rows)):
            parts += section(f"{KINDS[kind].title}, first and longest", _firsts(of_kernels))
        if kind == "bank" and events.hottest is not None:
            title = f"in bank {_bank(rows.iloc[0])} from cycle {rows['cycle'].iloc[0]:,} on"
            parts += section(title, _hottest(events, most))
    if not events.replayed:
        folder = printable(shlex.quote(str(record.folder)))
        line = f"cyscc events {folder} --longer {LONGER} makes the run again, and lists long waits"
        parts += [Text(""), Text(line)]
    return parts


_COLUMNS = {
    "about": {"bank": "arrays", "latency": "slowest array", "fifo": "held", "port": "took"},
    "use": {"cause": "of kernel"},
    "amount": {"fifo": "over cycles", "overflow": "pushed"},
}
"""Headings of columns that differ between kinds."""


def _table(events: Events, kind: str, rows: pd.DataFrame) -> "RenderableType":
    """Return the table of some events of a kind; the level is last, as the last column wraps on narrow terminals."""
    # Accesses count when their port takes them, which may be faster than they are served.
    every = rows.assign(use=rows["use"].clip(upper=1)).to_dict("records")
    read = kind == "overflow" and rows["vertex"].notna().any()
    columns: list[tuple[str, list[str]]] = [("word read" if read else "cycle", [f"{row['cycle']:,}" for row in every])]

    def add(name: str, form: str, source: str) -> None:
        if rows[source].notna().any():
            cells = ["" if pd.isna(row[source]) else form.format(row[source]) for row in every]
            columns.append((_COLUMNS.get(source, {}).get(kind, name), cells))

    for name, text in (("where", _place), ("controller" if kind == "controller" else "bank", _bank), ("link", _link)):
        cells = list(map(text, every))
        if any(cells):
            columns.append((name, cells))
    add("cause", "{}", "cause")
    words = len(columns)
    unit = "pushes" if kind == "duplicate" and rows["exact"].all() else KINDS[kind].unit
    add(unit, "{:.1%}" if unit.startswith("of ") else "{:,.0f}", "amount")
    add("busy", "{:.0%}", "use")
    add("wait", "{:,.0f}", "waiting")
    add("vertex", "{}", "vertex")
    add("address", "{:#x}", "address")
    add("", "{}", "about")
    columns.append(("in", [_where(events, row["instruction"]) for row in every]))
    lines = [list(line) for line in zip(*(cells for _, cells in columns), strict=True)]
    return table([name for name, _ in columns], lines, words=words, last=True)


def _firsts(rows: pd.DataFrame) -> "RenderableType":
    """Return the table of the first and the longest events of each cause or FIFO, over the kernels."""
    lines = []
    for name, its in rows.groupby("name", sort=False):
        first, longest = its.loc[its["first"].idxmin()], its.loc[its["longest"].idxmax()]
        cells = [f"{longest['longest']:,}", f"{longest['longest_at']:,}", _place(longest.to_dict())]
        lines.append([str(name), f"{its['found'].sum():,}", f"{first['first']:,}", _place(first.to_dict()), *cells])
    return table(["", "number", "first at", "of", "longest", "at", "of"], lines, last=True)


def _hottest(events: Events, most: int) -> "RenderableType":
    """Return the table of what was accessed most in the hottest bank."""
    assert events.hottest is not None, "the run was made again"
    total = events.hottest["accesses"].sum()
    lines = [
        [
            row["array"],
            f"{row['address']:#x}",
            "" if pd.isna(row["vertex"]) else f"{row['vertex']}",
            f"{row['accesses']:,}",
            f"{row['accesses'] / total:.0%}",
            f"{row['latency']:,.0f}",
        ]
        for row in events.hottest.head(most).to_dict("records")
    ]
    return table(["array", "address", "vertex", "accesses", "of them", "latency"], lines)


def _where(events: Events, number: Any) -> str:
    """Return the text of an instruction by number, of which none is -1."""
    return "host" if number < 0 else instruction_text(events.record.attempts.loc[number])


def _place(row: Mapping[Any, Any]) -> str:
    """Return the text of the kernel, and its FIFO, that an event is of."""
    if pd.isna(row["kernel"]):
        return ""
    kernel = f"engine{row['engine']}.{row['module']}{row['kernel']}"
    return kernel if pd.isna(row.get("fifo", pd.NA)) else f"{kernel} {row['fifo']}"


def _bank(row: Mapping[Any, Any]) -> str:
    """Return the text of the bank, or the controller, that an event is of."""
    return ".".join(f"{row[name]}" for name in ("controller", "bank") if not pd.isna(row[name]))


def _link(row: Mapping[Any, Any]) -> str:
    """Return the text of the link that an event is of."""
    return "" if pd.isna(row["link"]) else f"engine{row['engine']} link {row['link']}"


def events_text(events: Events) -> str:
    """Return the events as text."""
    return as_text(events_page(events), width=_WIDTH)


def events_html(events: Events) -> str:
    """Return the events as an HTML element."""
    return as_html(events_page(events), width=_WIDTH)


def events_document(events: Events) -> dict[str, Any]:
    """Return the events as a JSON document; an event has the fields that its kind has."""
    return {
        **identity(),
        **run_document(events.record),
        "order": events.order,
        "replayed": events.replayed,
        "kinds": {
            kind: {
                "about": KINDS[kind].about,
                "unit": KINDS[kind].unit,
                "found": found,
                **({"nearest": events.nearest[kind]._asdict()} if kind in events.nearest else {}),
            }
            for kind, found in events.found.items()
        },
        "events": _rows(events.frame),
        "kernels": _rows(events.kernels),
        **({} if events.hottest is None else {"hottest": _rows(events.hottest.head(TOP))}),
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as JSON objects, without what is missing."""
    return [{name: value for name, value in row.items() if not pd.isna(value)} for row in frame.to_dict("records")]
