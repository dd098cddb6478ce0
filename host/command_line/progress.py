"""A line of progress on a terminal."""

import shutil
import time
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

__all__ = ["Progress"]

_INTERVAL = 0.25
"""Seconds from one drawing to the next."""


def _duration(seconds: float) -> str:
    """Return a time as 0:07, 12:34 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Progress:
    """Draws how far a run is, a few times a second at most, on one line that it wipes at the end.

    Parameters
    ----------
    stream : TextIO
        The terminal.
    vertices : int
        Vertices of the graph.
    verb : str
        What happens to them: coloured, reached.
    step : str
        What is counted: iteration, level.
    clock : callable, optional
        Seconds, monotonic.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        vertices: int,
        verb: str,
        step: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._vertices = vertices
        self._verb = verb
        self._step = step
        self._clock = clock
        self._begin = self._due = clock()
        self._done_at_begin: int | None = None
        self._done = 0
        self._number = 0
        self._cycle = 0
        self._width = 0

    def on_cycle(self, cycle: int) -> None:
        """Take the cycle that the simulation is at."""
        self._cycle = cycle
        self._draw_when_due()

    def on_iteration(self, number: int, colours: npt.NDArray[Any]) -> None:
        """Take the iterations that are complete, and the colours: those that are not 0 count as done."""
        self._number = number
        if self._clock() >= self._due:
            self._take(int(np.count_nonzero(colours)))
            self._draw_when_due()

    def on_level(self, number: int, reached: int) -> None:
        """Take the levels that are complete and the entries that they reached."""
        self._number = number
        self._take(min(reached, self._vertices))
        self._draw_when_due()

    def close(self) -> None:
        """Wipe the line."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def _take(self, done: int) -> None:
        if self._done_at_begin is None:
            self._done_at_begin = done
        self._done = done

    def _draw_when_due(self) -> None:
        now = self._clock()
        if now < self._due:
            return
        self._due = now + _INTERVAL
        text = self._text(now - self._begin)[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def _text(self, elapsed: float) -> str:
        share = self._done / self._vertices
        parts = [
            f"{self._done:,} of {self._vertices:,} vertices {self._verb} ({share:.0%})",
            f"{self._step} {self._number:,}",
            f"cycle {self._cycle:,}",
        ]
        if elapsed > 0:
            parts.append(f"{self._cycle / elapsed:,.0f} cycles/s")
        advanced = self._done - (self._done_at_begin or 0)
        if advanced > 0:
            parts.append(f"{_duration(elapsed * (self._vertices - self._done) / advanced)} left")
        return ", ".join(parts)
