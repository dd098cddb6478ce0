"""Contests for people: tables."""

from collections.abc import Sequence

from host.contest.entries import BASE, Contest, Entry
from host.results.table_text import plain_table
from host.results.tables import graph_text, largest_text

__all__ = ["contest_text"]


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _rows(contest: Contest, entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    return [
        (
            entry.name,
            entry.where,
            _number(entry.milliseconds, ",.3f") or entry.trouble,
            _number(entry.edges, ","),
            _number(entry.passes, ","),
            _number(contest.speed_up(entry), ".2f"),
        )
        for entry in entries
    ]


def contest_text(contest: Contest) -> str:
    """Return a graph's tables: software, whose time is real, then simulated machines, whose time is not."""
    parts = [
        f"{graph_text(contest.graph, contest.vertices, contest.edges)}\n"
        f"components: {largest_text(contest.components, contest.largest)}\n"
    ]
    software = [entry for entry in contest.entries if not entry.simulated]
    simulated = [entry for entry in contest.entries if entry.simulated]
    columns = ("ran on", "ms", "edges touched", "passes")
    if software:
        head = ("software, real time", *columns, f"speed-up over {BASE}")
        parts.append(plain_table(_rows(contest, software), head=head, words=2))
    if simulated:
        head = ("machine, simulated time", *columns, f"real time of {BASE} / simulated time")
        parts.append(plain_table(_rows(contest, simulated), head=head, words=2))
    return "\n".join(parts)
