"""Answers: facts, sentences, tables and charts on one question, shown as text, JSON, Markdown, a page or in a notebook.

Every command and every function of the Python interface returns an `Answer`, and nothing else is rendered.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from cyscc.host.output.files import identity
from cyscc.hw.values import plain

if TYPE_CHECKING:
    import pandas as pd

    from cyscc.host.answer.charts import Figure

STACK_FORM = "stack"
"""Form of a column that shows the cycles of its row by cause, which have columns of their own, as a bar."""

ROWS = 12
"""Most rows of a table that are shown, unless it says otherwise."""


class Column(NamedTuple):
    """A column of a table.

    Parameters
    ----------
    head : str or None
        Its head; None means its name, with spaces.
    form : str
        Format of its values, such as ``{:,}``, or `STACK_FORM`. Missing values are shown as nothing.
    left : bool or None
        Whether it is at the left; None means that texts are, and numbers are not.
    """

    head: str | None = None
    form: str = "{}"
    left: bool | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Table:
    """A table of an answer: a frame, and the columns that are shown of it.

    Parameters
    ----------
    title : str
        Its title.
    frame : pandas.DataFrame, list of dict, or callable
        The whole frame, or its rows, for which pandas is not imported; or what returns it when it is first asked for.
    columns : mapping of str to (Column or str)
        The columns that are shown, in their order; a text is the form of a column. Those that the frame lacks, or
        that have no values, are left out.
    rows : sequence or None
        Labels of the rows that are shown; None means the first `most`.
    most : int or None
        Most rows that are shown; None means all.
    note : str
        A line below the table.
    shown : bool
        Whether text, Markdown and pages have the table; documents, and whoever asks for it, have it always.
    """

    title: str
    frame: "pd.DataFrame | list[dict[str, Any]] | Callable[[], pd.DataFrame | list[dict[str, Any]]]"
    columns: "Mapping[str, Column | str]" = field(default_factory=dict)
    rows: Sequence[Any] | None = None
    most: int | None = ROWS
    note: str = ""
    shown: bool = True

    @property
    def _made(self) -> "pd.DataFrame | list[dict[str, Any]]":
        if callable(self.frame):
            object.__setattr__(self, "frame", self.frame())
        return self.frame

    @property
    def whole(self) -> "pd.DataFrame":
        """The whole frame."""
        if isinstance(rows := self._made, list):
            import pandas as pd

            frame = pd.DataFrame(rows)
            # Whole numbers stay such where some are missing.
            kinds = {name: {type(row.get(name)) for row in rows} for name in frame}
            gaps = [name for name, found in kinds.items() if found == {int, type(None)}]
            object.__setattr__(self, "frame", frame.astype(dict.fromkeys(gaps, "Int64")))
        return self._made

    def __len__(self) -> int:
        return len(self._made)

    def records(self, *, shown: bool = True) -> list[dict[str, Any]]:
        """Return the rows that are shown, or all of them, by name of their columns; what is missing is None."""
        made = self._made
        if isinstance(made, list):
            if not shown:
                return made
            return made[: self.most] if self.rows is None else [made[label] for label in self.rows]
        if shown:
            made = (
                made.head(len(made) if self.most is None else self.most) if self.rows is None else made.loc[self.rows]
            )
        return made.astype(object).where(made.notna(), None).to_dict("records")

    @property
    def heading(self) -> str:
        """The title, and which part of the rows is shown."""
        count = len(self)
        shown = len(self.rows) if self.rows is not None else min(count, count if self.most is None else self.most)
        return self.title if shown == count else f"{self.title}: {shown:,} of {count:,}"

    def visible(self) -> "list[tuple[str, Column, bool]]":
        """Return name, description and side of each column that is shown; its head is set, its side is left or not."""
        rows, found = self.records(), []
        for name, given in self.columns.items():
            column = Column(form=given) if isinstance(given, str) else given
            head = name.replace("_", " ") if column.head is None else column.head
            values = [value for row in rows if (value := _value(row.get(name))) is not None]
            if column.form == STACK_FORM:
                found.append((name, Column(head, column.form), True))
            elif values:
                numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
                found.append((name, Column(head, column.form), not numbers if column.left is None else column.left))
        return found

    def grid(self, *, stacks: bool = True) -> "Grid":
        """Return what is shown: texts, and the cycles by cause of the row where a stack is; or the texts alone."""
        shown = [each for each in self.visible() if stacks or each[1].form != STACK_FORM]
        return Grid(
            heads=[column.head or "" for _, column, _ in shown],
            left=[left for *_, left in shown],
            rows=[
                [row if column.form == STACK_FORM else _cell(row.get(name), column) for name, column, _ in shown]
                for row in self.records()
            ],
        )

    def document(self) -> list[dict[str, Any]]:
        """Return all rows as JSON-able values."""
        return [{str(name): _value(value) for name, value in row.items()} for row in self.records(shown=False)]


class Grid(NamedTuple):
    """Rows of cells, which are texts or cycles by cause, with the heads of their columns, and which are at the left."""

    heads: Sequence[str]
    left: Sequence[bool]
    rows: Sequence[Sequence[str | Mapping[str, Any]]]


def _cell(value: Any, column: Column) -> str:
    return "" if _value(value) is None else column.form.format(value)


def _value(value: Any) -> Any:
    """Return a value of a frame as one of JSON; what is missing or not finite is None."""
    value = plain(value)
    if isinstance(value, Mapping):
        return {str(name): _value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_value(each) for each in value]
    if isinstance(value, float):
        return value if value - value == 0 else None
    return value if isinstance(value, str | int | bool | None) else str(value)


class Chart(NamedTuple):
    """A chart of an answer.

    Parameters
    ----------
    title : str
        Its title.
    draw : callable
        Draws it, when it is wanted.
    """

    title: str
    draw: "Callable[[], Figure]"


class Displayed:
    """Base class of objects that have an answer, which notebooks display."""

    def answer(self) -> "Answer":
        """Return the answer."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from cyscc.host.answer.markup import notebook

        return notebook(self.answer())


@dataclass(kw_only=True, eq=False, repr=False)
class Answer(Displayed):
    """An answer to a question; `print` shows it as the command does, and notebooks display it.

    A table is had by its name, as ``answer.frame("levels")`` or ``answer.levels``, and so are fields of its document.

    Parameters
    ----------
    title : str
        What the answer is about, in a line.
    facts : mapping of str to str
        Facts by name.
    said : sequence of str
        Sentences. Lines of one that begin with spaces are indented.
    tables : mapping of str to Table
        Tables by name.
    charts : mapping of str to Chart
        Charts by name.
    fields : mapping
        Further fields of the document, JSON-able.
    failure : str
        Why the command fails, after it has shown the answer; empty if it does not.
    """

    title: str
    facts: Mapping[str, str] = field(default_factory=dict)
    said: Sequence[str] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    charts: Mapping[str, Chart] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""

    def frame(self, name: str) -> "pd.DataFrame":
        """Return the whole frame of a table.

        Raises
        ------
        ValueError
            There is no such table.
        """
        if name not in self.tables:
            raise ValueError(f"the answer has no table {name!r}: there are {', '.join(self.tables) or 'none'}")
        return self.tables[name].whole

    def __getattr__(self, name: str) -> Any:
        # Asked for what is not there yet while a copy is made: `tables` itself.
        if not name.startswith("_") and name not in Answer.__dataclass_fields__:
            if name in self.tables:
                return self.tables[name].whole
            if name in self.fields:
                return self.fields[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.tables, *self.fields})

    def grid(self) -> Grid:
        """Return the facts as rows."""
        return Grid((), (True, True), list(self.facts.items()))

    def shown(self) -> list[Table]:
        """Return the tables that are shown and have rows to show."""
        return [table for table in self.tables.values() if table.shown and table.records()]

    def document(self) -> dict[str, Any]:
        """Return the answer as a JSON document: its tables as lists of rows."""
        rows = {name: table.document() for name, table in self.tables.items()}
        return {
            **identity(),
            "title": self.title,
            "facts": dict(self.facts),
            "said": list(self.said),
            **rows,
            **self.fields,
        }

    def text(self, *, width: int = 100, colours: bool = False) -> str:
        """Return the answer as text for so many columns, coloured for a terminal or not."""
        from cyscc.host.answer.text import as_text

        return as_text(self, width=width, colours=colours)

    def markdown(self) -> str:
        """Return the answer as Markdown, which begins with a heading."""
        from cyscc.host.answer.markup import markdown

        return markdown(self)

    def page(self) -> str:
        """Return the answer as a page: one self-contained HTML file."""
        from cyscc.host.answer.markup import page

        return page(self)

    def plot(self, path: "str | PathLike[str] | None" = None, name: str | None = None) -> "Figure":
        """Return a chart, a figure of plotly, and write it to a file if there is a path.

        Parameters
        ----------
        path : str or path, optional
            The file: SVG, PNG or PDF, by its suffix.
        name : str, optional
            Name of the chart; the first one by default.

        Raises
        ------
        ValueError
            There is no such chart.
        InputError
            The file cannot be written, or its suffix is of no format.
        """
        name = next(iter(self.charts), None) if name is None else name
        if name is None or name not in self.charts:
            raise ValueError(f"the answer has no chart {name!r}: there are {', '.join(self.charts) or 'none'}")
        figure = self.charts[name].draw()
        if path is not None:
            from cyscc.host.answer.static import write

            write(figure, fspath(path))
        return figure

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.title}>"

    def answer(self) -> "Answer":
        """Return the answer itself."""
        return self


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
