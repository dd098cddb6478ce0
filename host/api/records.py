"""Records for Python: explained, compared, drawn."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from host.explain.comparison import Comparison, difference_page
from host.explain.comparison import compare as compare_records
from host.explain.evidence import evidence_of
from host.explain.page import page
from host.explain.stacks import stacks
from host.explain.terminal import as_html, as_text
from host.explain.verdict import Finding, findings_of
from host.record.reader import Record
from host.runs.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = ["Difference", "Explanation", "compare", "explain", "record_of"]

Recorded: TypeAlias = Record | Result | str | PathLike[str]
"""A record: itself, the result of a run that was recorded, or its folder."""

_ROWS = 12
_WIDTH = 100


def record_of(recorded: Recorded) -> Record:
    """Return the record.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        There is none in the folder.
    """
    if isinstance(recorded, Record):
        return recorded
    if isinstance(recorded, Result):
        if recorded.record is None:
            raise ValueError("the run was not recorded: give it record=FOLDER")
        return recorded.record
    return Record(Path(recorded))


class Explanation:
    """Why a recorded run spent its cycles as it did; `str` of it is what ``cyscc explain`` prints.

    Attributes
    ----------
    record : Record
    instructions : pandas.DataFrame
        The instructions that it is about: levels and intersections.
    """

    def __init__(self, record: Record, rows: "pd.DataFrame") -> None:
        self.record = record
        self.instructions = rows

    @property
    def findings(self) -> list[Finding]:
        """The verdict, what costs most first."""
        return findings_of(self.record, self.instructions)

    def stacks(self, by: str = "level") -> "pd.DataFrame":
        """Return cycles by cause of an average kernel for each phase, iteration, level, engine, kernel or interval."""
        return stacks(self.record, self.instructions, by)

    def banks(self, count: int = 10) -> "pd.DataFrame":
        """Return the hottest banks of each module: how busy, for which arrays, and when."""
        import pandas as pd

        every = evidence_of(self.record, self.instructions)
        return pd.DataFrame([{"module": its.module, **vars(bank)} for its in every for bank in its.hottest(count)])

    def fifos(self) -> "pd.DataFrame":
        """Return how deep each FIFO got, and which depth to try."""
        import pandas as pd

        every = evidence_of(self.record, self.instructions)
        return pd.DataFrame([{**vars(fifo), "proposed": fifo.proposed} for its in every for fifo in its.fifos])

    def _page(self) -> "list[RenderableType]":
        return page(self.record, self.instructions, by=None, top=_ROWS)

    def __str__(self) -> str:
        return as_text(self._page(), width=_WIDTH)

    def _repr_html_(self) -> str:
        return as_html(self._page(), width=_WIDTH)


class Difference:
    """Where the second of two recorded runs takes more cycles, and why; `str` of it is what ``cyscc explain`` prints.

    Attributes
    ----------
    levels, phases : pandas.DataFrame
        Cycles of both, their difference, and the difference by cause, for each level and each phase.
    causes : dict of str to float
        The whole difference by cause, in cycles of an average kernel.
    cycles : int
        The whole difference.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.levels, self.phases = comparison.levels, comparison.phases
        self.causes, self.cycles = comparison.causes, comparison.difference

    def _page(self) -> "list[RenderableType]":
        return difference_page(self._comparison, top=_ROWS)

    def __str__(self) -> str:
        return as_text(self._page(), width=_WIDTH)

    def _repr_html_(self) -> str:
        return as_html(self._page(), width=_WIDTH)


def explain(
    recorded: Recorded, *, phase: str | None = None, level: int | None = None, iteration: int | None = None
) -> Explanation:
    """Say why a recorded run spent its cycles as it did.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a run that was recorded, or a record's folder.
    phase, level, iteration : optional
        Only this phase, level or iteration.

    Raises
    ------
    ValueError
        The run was not recorded.
    InputError
        There is no record, or nothing of what was asked for in it.
    """
    record = record_of(recorded)
    return Explanation(record, record.select(phase=phase, level=level, iteration=iteration))


def compare(first: Recorded, second: Recorded) -> Difference:
    """Say where the second of two recorded runs takes more cycles, and why. As of `explain` otherwise."""
    return Difference(compare_records(record_of(first), record_of(second)))
