"""How answers of measurements are told: texts, columns of tables and contenders, in the file beside the code."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from cyscc.host.answer.answer import Answer, Forms, TableForm

TABLES = Forms(__file__)
"""Forms of the tables of sweeps, trials and searches of depths."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """Software that is measured.

    Parameters
    ----------
    algorithm : str
        Its algorithm.
    options : dict
        Its options; one that the study has too has the study's value.
    sequential : bool
        Whether it runs on one thread of the processor, whatever the device.
    seeded : bool
        Whether its random choices have the study's seed.
    mec : bool
        Whether it finds maximal end components.
    """

    algorithm: str
    options: dict[str, int] = field(default_factory=dict)
    sequential: bool = False
    seeded: bool = False
    mec: bool = False


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
    tables : dict of str to TableForm
        Tables by name.
    contenders : dict of str to Contender
        Software that is measured, by name.
    series : list of list of str
        Series of a chart of run times: field of the rows, name, field of the paper's row, name there, colour.
    """

    title: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    tables: dict[str, TableForm]
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
            Rows by table; what is inside of their values has names with dots: ``counts.edges``.
        title : str
            The title, if the sheet has none.
        said : iterable of str
            What is said after the sheet's sentences.
        **more
            Further fields of `Answer`.
        """
        import pandas as pd

        frames = {name: pd.json_normalize(list(each)) for name, each in rows.items()}
        return Answer(
            title=title or self.title.format_map(words),
            facts={name: text.format_map(words) for name, text in self.facts.items()},
            said=[*self.said, *said],
            tables={name: self.tables[name].table(frame, words) for name, frame in frames.items()},
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
