"""Places: parts of a run, in one notation for all commands and for Python.

A place is a cycle (``120000``), a range of them (``1000:2000``), or parts ``name=value`` joined by commas, such as
``level=3-5,iteration=2,phase=backward`` or ``cause=slot,longer=200,engine=0``; a range may have such parts, too. The
first part may be a word: an event (``overflow``, ``full:words``), a cause (``slot``), or ``start``, the whole run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

from cyscc.host.specification.numbers import check_numbers, checked_number
from cyscc.hw.values import plain
from cyscc.sim.observation.causes import CAUSE_NAMES, CAUSES, IDLE_CAUSES

if TYPE_CHECKING:
    import pandas as pd

MODULES = ("bfs", "intersection")
"""Kinds of kernels."""

PHASES = ("forward", "backward", "intersection")
"""Phases of instructions; a search of `cyscc bfs` is a forward one."""

CAUSE_EVENTS = tuple(cause.name for cause in CAUSES if cause.name not in IDLE_CAUSES)
"""Causes that a kernel tells itself, whose waits have a cycle of their own."""

EVENTS = ("full", "duplicate", "overflow", "idle", "error", "hang")
"""Events that are no wait, of no vertex, and of no FIFO above a limit."""

ANY = "any"
"""Name for the causes of waits together: all that limit a kernel."""

INSTRUCTION = ("iteration", "phase", "level")
"""Parts that choose instructions."""
KERNEL = ("engine", "module", "kernel")
"""Parts that choose kernels."""

_EVERYTHING = "start"
_LOWS = {"level": 0, "iteration": 1, "engine": 0, "kernel": 0, "longer": 0, "above": 0, "vertex": 0, "nth": 1}
_RANGES = {"cycles": ":", "level": "-", "iteration": "-"}
"""Parts with a first and a last value, and what is between them."""
_WORDS = {"phase": PHASES, "module": MODULES, "event": EVENTS, "cause": (ANY, *CAUSE_NAMES)}
_OTHER_NAMES = {"wait": "cause"}
_KINDS = ("event", "cause", "fifo", "vertex", "bank")
"""Parts of which a place has one; ``event=full`` may have a FIFO."""

TAKEN: Mapping[str, tuple[str, ...]] = {
    "explain": ("cycles", *INSTRUCTION),
    "events": ("cycles", *INSTRUCTION, *KERNEL, "cause", "longer", "fifo", "bank"),
    "replay": ("cycles", *INSTRUCTION, *KERNEL, "event", "cause", "longer", "fifo", "above", "vertex", "nth"),
    "record-detail": ("cycles", *INSTRUCTION),
    "wave-window": ("cycles",),
}
"""Parts that a place may have, by what takes it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A part of a run; what is None restricts nothing. `parse` and `str` are inverse to each other.

    Parameters
    ----------
    cycles : (int, int) or None
        First and last cycle.
    event : str or None
        An event, one of `EVENTS`.
    cause : str or None
        Cause of a wait, or `ANY`.
    longer : int or None
        Cycles than which the wait lasts longer.
    fifo : str or None
        The FIFO that is full, or holds entries.
    above : int or None
        Entries than which the FIFO holds more.
    bank : (int, int) or None
        Controller and number of a memory bank.
    vertex : int or None
        A vertex, as named in the graph's file.
    iteration, level : (int, int) or None
        First and last iteration, and level of a search.
    phase : str or None
        Phase of an iteration.
    engine, module, kernel : optional
        Kernels: AE, kind and number there.
    nth : int or None
        Number of the event among those that fit, from 1; the first by default. Of a vertex, it is the number among all
        its events; by default, the place is its first visit.

    Raises
    ------
    ValueError
        A part is invalid, or two contradict each other. One line.
    """

    cycles: tuple[int, int] | None = None
    event: str | None = None
    cause: str | None = None
    longer: int | None = None
    fifo: str | None = None
    above: int | None = None
    bank: tuple[int, int] | None = None
    vertex: int | None = None
    iteration: tuple[int, int] | None = None
    phase: str | None = None
    level: tuple[int, int] | None = None
    engine: int | None = None
    module: str | None = None
    kernel: int | None = None
    nth: int | None = None

    def __post_init__(self) -> None:
        check_numbers(self, **{name: low for name, low in _LOWS.items() if name not in _RANGES})
        for name in (*_RANGES, "bank"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _pair(name, value))
        for name, words in _WORDS.items():
            value = getattr(self, name)
            if value not in (None, *words):
                raise ValueError(f"there is no {name} {value!r}: there are {', '.join(words)}")
        if self.fifo is not None and "," in self.fifo:
            raise ValueError(f"fifo must be the name of a FIFO, not {self.fifo!r}")
        kinds = [name for name in _KINDS if getattr(self, name) is not None]
        if len(kinds) > 1 and (self.event, *kinds) != ("full", "event", "fifo"):
            raise ValueError(f"{' and '.join(kinds)} are not of one place")
        if self.longer is not None and self.cause is None:
            raise ValueError(f"longer needs a cause: cause={ANY},longer={self.longer}")
        if self.above is not None and kinds != ["fifo"]:
            raise ValueError(f"above needs a FIFO: fifo=words,above={self.above}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the place that a text describes.

        Raises
        ------
        ValueError
            The text describes no place.
        """
        first, *rest = text.split(",")
        values: dict[str, Any] = {}
        if first[:1].isdecimal():
            values["cycles"] = _read("cycles", first)
        elif "=" in first:
            rest = [first, *rest]
        else:
            word, colon, fifo = first.partition(":")
            if word not in (_EVERYTHING, *CAUSE_EVENTS, *EVENTS) or (colon and word != "full"):
                there = ["a cycle", "FIRST:LAST", _EVERYTHING, *CAUSE_EVENTS, *EVENTS, *(f"{name}=" for name in _PARTS)]
                raise ValueError(f"no place {first!r}: there are {', '.join(there)}")
            if word != _EVERYTHING:
                values["cause" if word in CAUSE_EVENTS else "event"] = word
            if colon:
                values["fifo"] = fifo
        for part in rest:
            given, equals, value = part.partition("=")
            name = _OTHER_NAMES.get(given, given)
            if name not in _PARTS or not equals:
                raise ValueError(f"{part!r} restricts nothing: there are {', '.join(f'{name}=' for name in _PARTS)}")
            name = "cause" if name == "event" and value in CAUSE_EVENTS else name
            if name in values:
                raise ValueError(f"{name} is there twice in {text!r}")
            values[name] = _read(name, value)
        return cls(**values)

    @classmethod
    def of(cls, at: Any = None, **parts: Any) -> Self:
        """Return a place given as such, as a text, a cycle or None for everything, with further parts.

        Raises
        ------
        ValueError
            It is none, or has a part twice.
        """
        at = cls() if at is None else cls.parse(at) if isinstance(at, str) else plain(at)
        if not isinstance(at, Place):
            at = cls(cycles=(cycle := checked_number("at", at, low=0), cycle))
        values = {name: plain(value) for name, value in parts.items() if value is not None}
        for name, value in values.items():
            if getattr(at, name) is not None:
                raise ValueError(f"{name} is there twice: in {at}, and {_text(name, value)}")
            values[name] = _read(name, value) if isinstance(value, str) else value
        return replace(at, **values)

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the parts that it has."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) is not None)

    @property
    def kind(self) -> str:
        """What is there: one of `EVENTS`, or ``wait``, ``fifo``, ``vertex``, ``bank``, ``cycles`` or ``start``."""
        if self.event is not None:
            return self.event
        name = next((name for name in (*_KINDS, "cycles") if getattr(self, name) is not None), _EVERYTHING)
        return "wait" if name == "cause" else name

    def taken(self, by: str) -> Self:
        """Return the place.

        Raises
        ------
        ValueError
            It has a part that its taker, one of `TAKEN`, does not take. One line, which names those that it takes.
        """
        others = [name for name in self.given if name not in TAKEN[by]]
        if others:
            raise ValueError(f"{by} takes no {' and no '.join(others)}; a place there has {', '.join(TAKEN[by])}")
        if by == "replay":
            self._check_point()
        return self

    def _check_point(self) -> None:
        """Refuse parts that say nothing about the point at which a place begins."""
        if self.cycles is not None and self.given != ("cycles",):
            raise ValueError(f"{self} begins with a cycle, and nothing else can be said about it")
        if self.cause not in (None, ANY, *CAUSE_EVENTS):
            raise ValueError(f"there is no wait {self.cause!r}: there are {', '.join((ANY, *CAUSE_EVENTS))}")
        none = [*KERNEL[::2]] if self.kind in (_EVERYTHING, "duplicate", "overflow", "error", "hang") else []
        none += ["nth"] if self.kind in ("error", "hang") else []
        for name in none:
            if getattr(self, name) is not None:
                raise ValueError(f"{name} says nothing about {self.kind}")

    def rows_of(self, frame: "pd.DataFrame", names: Iterable[str] = (*INSTRUCTION, *KERNEL)) -> "pd.DataFrame":
        """Return the rows of a frame that have the values of some parts, of those that are its columns."""
        for name in names:
            value = getattr(self, name)
            if value is not None and name in frame:
                column = frame[name]
                frame = frame[column.between(*value) if name in _RANGES else column == value]
        return frame

    def instructions_of(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """Return those of some instructions that are of its phase, levels and iterations, and overlap its cycles."""
        frame = self.rows_of(frame, INSTRUCTION)
        if self.cycles is None:
            return frame
        first, last = self.cycles
        return frame[(frame["start"] <= last) & (frame["start"] + frame["cycles"] > first)]

    def widened(self, interval: int) -> tuple[tuple[int, int] | None, str]:
        """Return the cycles as those of whole intervals, and a sentence that says so if they are others."""
        if self.cycles is None:
            return None, ""
        first, last = self.cycles[0] // interval * interval, (self.cycles[1] // interval + 1) * interval - 1
        if (first, last) == self.cycles:
            return self.cycles, ""
        wide = _text("cycles", (first, last))
        return (first, last), f"the record has intervals of {interval:,} cycles, so {self} is shown as {wide}"

    def __str__(self) -> str:
        parts = [f"{name}={_text(name, getattr(self, name))}" for name in self.given]
        return ",".join(parts).removeprefix("cycles=").removeprefix("event=") or _EVERYTHING


def check_part(name: str, text: str) -> None:
    """Check the text of a part of a place.

    Raises
    ------
    ValueError
        It is none.
    """
    try:
        Place.parse(f"{name}={text}")
    except ValueError as error:
        raise ValueError(str(error).removeprefix(f"{name}: ")) from None


_PARTS = tuple(each.name for each in fields(Place) if each.name != "cycles")
"""Names of the parts of a text."""


def _pair(name: str, value: Any) -> tuple[int, int]:
    """Return the two numbers of a range, or of a bank, validated."""
    value = plain(value)
    numbers = tuple(value) if isinstance(value, tuple | list) else (value, value)
    if len(numbers) != 2:
        checked_number(name, value, low=0)
    first, last = (checked_number(name, number, low=_LOWS.get(name, 0)) for number in numbers)
    if name != "bank" and first > last:
        raise ValueError(f"{name}: the first must not come after the last: {_text(name, (first, last))}")
    return first, last


def _read(name: str, text: str) -> Any:
    """Return the value of a part, which `Place` validates."""
    if name in _RANGES:
        first, there, last = text.partition(_RANGES[name])
        return (first, last) if first and there else (text, text)
    if name == "bank":
        controller, dot, bank = text.partition(".")
        if not dot:
            raise ValueError(f"bank must be a controller and its bank, as in 3.17, not {text!r}")
        return controller, bank
    return text


def _text(name: str, value: Any) -> str:
    """Return the text of a part's value."""
    if isinstance(value, tuple | list) and len(value) == 2:
        first, last = value
        return f"{first}.{last}" if name == "bank" else f"{first}" if first == last else f"{first}{_RANGES[name]}{last}"
    return str(value)
