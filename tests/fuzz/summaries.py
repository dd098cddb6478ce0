"""Table of the findings of campaigns."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tests.fuzz.logs import Batch, failures_of
from tests.fuzz.parts import Part
from tests.tables import markdown_table, plain_table

_HEAD = ("part", "what became of the cases", "counted besides", "cases", "hours", "failures", "mended")


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def summary(parts: Iterable[Part[Any]], batches: Sequence[Batch], *, markdown: bool = False) -> str:
    """Return a row for each part.

    Parameters
    ----------
    parts : iterable of Part
        The parts.
    batches : sequence of Batch
        What was done.
    markdown : bool
        As Markdown; else for terminals.
    """
    left = Counter(failure.part for failure in failures_of(list(batches)))
    rows = []
    for part in parts:
        own = [batch for batch in batches if batch.part == part.name]
        kinds, counts = Counter[str](), Counter[str]()
        for batch in own:
            kinds.update(batch.kinds)
            counts.update(batch.counts)
        failed = sum(len(batch.failures) for batch in own if not batch.mended)
        hours = sum(batch.seconds for batch in own) / 3600
        numbers = (f"{sum(batch.count for batch in own):,}", f"{hours:.2f}")
        failures = (str(left[part.name]), str(failed - left[part.name]))
        rows.append((part.name, _listed(kinds), _listed(counts), *numbers, *failures))
    return markdown_table(_HEAD, rows, words=3) if markdown else plain_table(rows, head=_HEAD, words=3)
