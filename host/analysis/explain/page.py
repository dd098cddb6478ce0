"""The head of pages that are not answers yet."""

from typing import TYPE_CHECKING

from cyscc.host.record.display import record_title, selection_facts
from cyscc.host.record.reader import Record

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = ["head"]


def head(record: Record, rows: "pd.DataFrame") -> "list[RenderableType]":
    """Return the head of a page: the run, its cycles, and the share of them in the selected instructions."""
    from rich.text import Text

    facts = selection_facts(record, rows)
    return [Text(line) for line in (record_title(record), *(f"{name}: {text}" for name, text in facts.items()))]
