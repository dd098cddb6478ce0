"""Progress on a terminal: what every command shows while something takes long."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sim.notices import notices_to

__all__ = ["OnStep", "Progress", "Step"]

OnStep = Callable[[int, int], None]
"""Called with what is done, and all of it."""

_INTERVAL = 0.1
"""Seconds from one drawing to the next."""


class Step:
    """Something that takes long, as those see it who do it. May be called from any thread.

    Parameters
    ----------
    draw : callable, optional
        Draws ``(done, total, what)``; absent when nothing is shown.
    """

    def __init__(self, draw: Callable[[int, int | None, str], None] | None = None) -> None:
        self._draw = draw
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether the next call will be drawn: what takes long to find out need not be told before."""
        return self._draw is not None and time.monotonic() >= self._next

    def __call__(self, done: int, total: int | None = None, what: str = "") -> None:
        """Tell how much is done, of how much if that is known, and in words what is at hand."""
        if self._draw is not None and (self.due or done == total):
            self._next = time.monotonic() + _INTERVAL
            self._draw(done, total, what)


class Progress:
    """Shows steps on standard error, when that is a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()

    @contextmanager
    def step(self, what: str) -> Iterator[Step]:
        """Show a step until the end of the block: its name, and as they are told the share that is done and the rest.

        Nothing else may be written to the terminal meanwhile.
        """
        if not self._shown:
            yield Step()
            return
        # Here, as it takes a tenth of a second that nobody else should wait.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.table import Column

        columns = (
            TextColumn("{task.description}", markup=False, table_column=Column(min_width=len(what))),
            BarColumn(bar_width=16, table_column=Column(min_width=8)),
            TaskProgressColumn(table_column=Column(min_width=4)),
            TimeRemainingColumn(table_column=Column(min_width=7)),
            # The one that is cut where the terminal is narrow.
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
                yield Step(draw)
