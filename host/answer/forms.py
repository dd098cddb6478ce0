"""Forms of tables: titles and columns as they stand in the file `tables.toml` beside the code that fills them."""

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from cyscc.host.answer.answer import Column, Table

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class TableForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a table is shown.

    Parameters
    ----------
    title : str
        Its title. Like the heads it may have words in braces.
    columns : list of list
        Name, head, format and side of each column, as `Column` has them, as far as they are not the default. An empty
        head is the name, and a blank is none.
    others : str
        Format of the columns that are not named; empty if these are not shown.
    note : str
        A line below the table.
    shown : bool
        Whether it is shown.
    """

    title: str
    columns: list[list[Any]] = []
    others: str = ""
    note: str = ""
    shown: bool = True

    def table(
        self,
        frame: Any,
        words: Mapping[str, Any] = _NOTHING,
        *,
        columns: Mapping[str, Column] = _NOTHING,
        without: Collection[str] = (),
        **more: Any,
    ) -> Table:
        """Return the table of a frame.

        Parameters
        ----------
        frame : pandas.DataFrame, list of dict, or callable
            As of `Table`; a form with others needs a frame.
        words : mapping
            What stands for the words in braces.
        columns : mapping of str to Column
            Columns that have another form than that of the file, or are not in it, and follow those that are.
        without : collection of str
            Columns that are not shown.
        **more
            Further fields of `Table`. All rows are shown if these say nothing else.
        """
        found: dict[str, Column | str] = {}
        for name, *rest in self.columns:
            head, *form = rest or [""]
            found[name] = Column(head.format_map(words).strip() if head else None, *form)
        if self.others:
            found |= {name: self.others for name in frame if name not in found}
        shown = {name: column for name, column in {**found, **columns}.items() if name not in without}
        given = {"most": None, "note": self.note, "shown": self.shown, **more}
        return Table(title=self.title.format_map(words), frame=frame, columns=shown, **given)


class Forms:
    """The forms of a room's tables.

    Parameters
    ----------
    file : str
        A file of the room.
    """

    def __init__(self, file: str) -> None:
        self._path = Path(file).with_name("tables.toml")

    @cached_property
    def _forms(self) -> dict[str, TableForm]:
        return msgspec.toml.decode(self._path.read_bytes(), type=dict[str, TableForm])

    def table(self, name: str, frame: Any, words: Mapping[str, Any] = _NOTHING, **more: Any) -> Table:
        """Return a table by the name of its form; see `TableForm.table`."""
        return self._forms[name].table(frame, words, **more)
