"""How answers of measurements are told: texts, columns of tables and contenders, in the file beside the code."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from cyscc.host.answer.answer import Answer, Column, Table

Columns = Mapping[str, Column | str]
"""Columns of a table, see `cyscc.host.answer.answer.Table`."""


def table(title: str, rows: Iterable[Mapping[str, Any]], columns: Columns) -> Table:
    """Return a table of all rows; what is inside of their values has names with dots: ``counts.edges``."""
    import pandas as pd

    return Table(title=title, frame=pd.json_normalize(list(rows)), columns=columns, most=None)


@dataclass(frozen=True, kw_only=True)
class Contender:
    """Software that is measured.

    Parameters
    ----------
    algorithm : str
        Its algorithm.
    options : dict
        Its options; one that the study has too has the study's value.
    counters : tuple of str
        Counters that the result must have.
    sequential : bool
        Whether it runs on one thread of the processor, whatever the device.
    seeded : bool
        Whether its random choices have the study's seed.
    mec : bool
        Whether it finds maximal end components.
    """

    algorithm: str
    options: dict[str, int] = field(default_factory=dict)
    counters: tuple[str, ...] = ()
    sequential: bool = False
    seeded: bool = False
    mec: bool = False


@dataclass(frozen=True, kw_only=True)
class SheetTable:
    """A table of an answer.

    Parameters
    ----------
    title : str
        Its title.
    columns : list of list
        Name, head, format and side of each column, the last three as far as they are not the default.
    others : str
        Format of the columns that are not named; empty if these are not shown.
    """

    title: str
    columns: list[list[Any]]
    others: str = ""

    def filled(self, rows: Sequence[Mapping[str, Any]], words: Mapping[str, Any]) -> Table:
        """Return the table of some rows; `words` are those in braces in its title."""
        columns: dict[str, Column | str] = {}
        for name, *rest in self.columns:
            head, *form = rest or [""]
            columns[name] = Column(head.format_map(words).strip() if head else None, *form)
        if self.others:
            columns |= {name: self.others for row in rows[:1] for name in row if name not in columns}
        return table(self.title.format_map(words), rows, columns)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Title, facts, sentences and tables of an answer, contenders of a study, and series of its chart.

    Parameters
    ----------
    title : str
        The title; empty if there are several, see `title_of`. It and the other texts may have words in braces.
    facts : dict of str to str
        Facts by name.
    said : list of str
        Sentences.
    tables : dict of str to SheetTable
        Tables by name.
    contenders : dict of str to Contender
        Software that is measured, by name.
    series : list of list of str
        Series of a chart of run times: field of the rows, name, field of the paper's row, name there, colour.
    """

    title: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    tables: dict[str, SheetTable]
    contenders: dict[str, Contender] = field(default_factory=dict)
    series: list[list[str]] = field(default_factory=list)

    def answer(
        self,
        words: Mapping[str, Any],
        rows: Mapping[str, Iterable[Mapping[str, Any]]],
        *,
        title: str = "",
        said: Iterable[str] = (),
        **more: Any,
    ) -> Answer:
        """Return the answer of rows by table.

        Parameters
        ----------
        words : mapping
            What stands for the words in braces.
        rows : mapping
            Rows by table.
        title : str
            The title, if the sheet has none.
        said : iterable of str
            What is said after the sheet's sentences.
        **more
            Further fields of `Answer`.
        """
        return Answer(
            title=title or self.title.format_map(words),
            facts={name: text.format_map(words) for name, text in self.facts.items()},
            said=[*self.said, *said],
            tables={name: self.tables[name].filled(list(each), words) for name, each in rows.items()},
            **more,
        )


@cache
def _read() -> tuple[dict[str, str], dict[str, Sheet]]:
    """Return titles and sheets; read when one is asked for."""
    read = msgspec.toml.decode(Path(__file__).with_name("sheets.toml").read_bytes())
    return read.pop("titles"), msgspec.convert(read, dict[str, Sheet])


def title_of(figure: str) -> str:
    """Return the title of the answer of a figure or table."""
    return _read()[0][figure]


def sheet_of(name: str) -> Sheet:
    """Return a sheet by its name."""
    return _read()[1][name]
