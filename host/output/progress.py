"""Progress display of all commands on a terminal."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from cyscc.sim.notices import notice, notices_to

OnProgress = Callable[[int, int], None]
"""Callback with the amount done and the total."""

_INTERVAL = 0.1
"""Least seconds between two redraws."""


class Step:
    """A long-running step, to which its code reports progress from any thread.

    Parameters
    ----------
    draw : callable, optional
        Draws ``(done, total, what)``; absent when nothing is shown.

    Attributes
    ----------
    done : int
    total : int or None
        The amounts reported last.
    """

    done: int
    total: int | None

    def __init__(self, draw: Callable[[int, int | None, str], None] | None = None) -> None:
        self.done, self.total = 0, None
        self._draw = draw
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether the next call will be drawn; lets callers skip an expensive progress query."""
        return self._draw is not None and time.monotonic() >= self._next

    def __call__(self, done: int, total: int | None = None, what: str = "") -> None:
        """Report the amount done, the total if known, and a text on the current work."""
        self.done, self.total = done, total
        if self._draw is not None and (self.due or done == total):
            self._next = time.monotonic() + _INTERVAL
            self._draw(done, total, what)


class Progress:
    """Shows steps on standard error, when that is a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing.

    Attributes
    ----------
    latest : Step or None
        The step that began last.
    name : str
        Its name.
    kept : callable or None
        Returns what an interrupt leaves of the work, and on a second line the command that goes on with it.
    on_part : callable or None
        Called with an answer that is not complete yet, which may be worth keeping.
    command : str
        The command that asks, if one does.
    outputs : mapping of str to str
        Files that the command writes, and their options; nothing else may write there.
    written : ExitStack or None
        Contexts that the command leaves when it has written them.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.latest: Step | None = None
        self.name = ""
        self.kept: Callable[[], str] | None = None
        self.on_part: Callable[[Any], None] | None = None
        self.command = ""
        self.outputs: Mapping[str, str] = {}
        self.written: ExitStack | None = None
        self._quiet = quiet
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()

    @classmethod
    def of(cls, wanted: "Progress | bool") -> "Progress":
        """Return the progress that a caller of the Python interface wants: one of its own, or whether to show any."""
        return wanted if isinstance(wanted, Progress) else cls(quiet=not wanted)

    @contextmanager
    def until_written(self) -> Iterator[ExitStack]:
        """Yield a stack for contexts that last until the command has written the answer, or to the end of the block."""
        if self.written is not None:
            yield self.written
            return
        with ExitStack() as stack:
            yield stack

    def tell(self, text: str) -> None:
        """Show a line as the work goes on, above the steps; nothing if it is quiet."""
        if not self._quiet:
            notice(text)

    @contextmanager
    def step(self, what: str) -> Iterator[Step]:
        """Show a step with its name and reported progress until the end of the block.

        Nothing else may be written to the terminal meanwhile.
        """
        self.name = what
        if not self._shown:
            self.latest = Step()
            yield self.latest
            return
        # Imported here because the import takes a tenth of a second.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.table import Column

        columns = (
            TextColumn("{task.description}", markup=False, table_column=Column(min_width=len(what))),
            BarColumn(bar_width=16, table_column=Column(min_width=8)),
            TaskProgressColumn(table_column=Column(min_width=4)),
            TimeRemainingColumn(table_column=Column(min_width=7)),
            # The column that is truncated on a narrow terminal.
            TextColumn("{task.fields[what]}", markup=False, table_column=Column(no_wrap=True)),
        )
        console = Console(stderr=True, highlight=False)
        with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bars:
            task = bars.add_task(what, total=None, what="")

            def draw(done: int, total: int | None, what: str) -> None:
                bars.update(task, completed=done, total=total, what=what, refresh=True)

            def write(text: str) -> None:
                console.print(text, markup=False, soft_wrap=True)

            with notices_to(write):
                self.latest = Step(draw)
                yield self.latest
