"""Points of a run: cycles and events, the latter restricted to some instructions and kernels."""

from dataclasses import dataclass
from typing import Any

from cyscc.host.record.tables import MODULES, PHASES
from cyscc.host.specification.run import checked_number
from cyscc.sim.observation.causes import CAUSES, IDLE_CAUSES

__all__ = ["ANY", "CAUSE_EVENTS", "EVENTS", "Point"]

CAUSE_EVENTS = tuple(cause.name for cause in CAUSES if cause.name not in IDLE_CAUSES)
"""Events defined as the first cycle with a cause."""

EVENTS = ("start", *CAUSE_EVENTS, "full", "duplicate", "overflow", "idle", "error", "hang")
"""Events named by a word; ``start``, the dispatch of an instruction, is the default of a point that names none."""

ANY = "any"
"""Name for the causes of waits together: all that limit a kernel."""

_EVENTS_OF = {"wait": "cause", "fifo": "fifo", "vertex": "vertex"}
"""Events named with a value, such as ``wait=slot``, and the field that holds the value."""

_NOWHERE = ("start", "duplicate", "overflow", "error", "hang")
"""Events that cannot be restricted to kernels."""
_NUMBERS = {"longer": 0, "above": 0, "level": 0, "iteration": 1, "engine": 0, "kernel": 0, "nth": 1}
_TEXTS = {"phase": PHASES, "module": MODULES}
_ONLY_OF = {"longer": ("wait",), "above": ("fifo",)}
"""Restrictions of some events only."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a run.

    Parameters
    ----------
    cycle : int or None
        The cycle; None for an event.
    event : str
        The event, one of `EVENTS`.
    fifo : str or None
        The FIFO of the events ``full`` and ``fifo``; None for any FIFO.
    cause : str or None
        The cause of the event ``wait``, or `ANY`.
    level, iteration, phase, module, engine, kernel : optional
        Restrictions of the event.
    longer : int, optional
        Cycles than which the wait lasts longer.
    above : int, optional
        Entries than which the FIFO holds more.
    nth : int, optional
        Number of the event among those that fit, from 1; the first by default. Of a vertex, it is the number among all
        its events; by default, the point is its first visit.
    vertex : int, optional
        The vertex of the event ``vertex``, as named in the graph's file.
    """

    cycle: int | None = None
    event: str = "start"
    fifo: str | None = None
    cause: str | None = None
    level: int | None = None
    iteration: int | None = None
    phase: str | None = None
    module: str | None = None
    engine: int | None = None
    kernel: int | None = None
    longer: int | None = None
    above: int | None = None
    nth: int | None = None
    vertex: int | None = None

    @classmethod
    def of(cls, at: Any) -> "Point":
        """Return the point that a text describes, or a cycle given as a number; raises the errors of `parse`."""
        return cls.parse(at) if isinstance(at, str) else cls(cycle=checked_number("at", at, low=0))

    @classmethod
    def parse(cls, text: str) -> "Point":
        """Return the point that a text describes: ``120000``, ``level=3``, ``wait=slot,longer=200,level=3``.

        Raises
        ------
        ValueError
            The text describes no point.
        """
        first, *rest = text.split(",")
        values: dict[str, int | str] = {}
        if first[:1].isdecimal():
            if rest:
                raise ValueError(f"{text!r} is a cycle, and nothing can be said about it")
            return cls(cycle=checked_number("a cycle", first, low=0))
        if "=" in first:
            rest = [first, *rest]
        else:
            event, colon, fifo = first.partition(":")
            if event not in EVENTS or (colon and event != "full"):
                there = ["a cycle", "level=", *EVENTS, *(f"{name}=" for name in _EVENTS_OF)]
                raise ValueError(f"no point {first!r}: there are {', '.join(there)}")
            values["event"] = event
            if colon:
                values["fifo"] = fifo
        for part in rest:
            name, _, value = part.partition("=")
            if name in values:
                raise ValueError(f"{name} is there twice in {text!r}")
            if name in _EVENTS_OF:
                if "event" in values:
                    raise ValueError(f"{text!r} names two events")
                values |= {
                    "event": name,
                    _EVENTS_OF[name]: value if name != "vertex" else checked_number(name, value, low=0),
                }
            elif name in _NUMBERS:
                values[name] = checked_number(name, value, low=_NUMBERS[name])
            elif name in _TEXTS:
                if value not in _TEXTS[name]:
                    raise ValueError(f"{name} must be {' or '.join(_TEXTS[name])}, not {value!r}")
                values[name] = value
            else:
                raise ValueError(f"{part!r} restricts nothing: there are {', '.join([*_NUMBERS, *_TEXTS])}")
        point = cls(**values)  # type: ignore[arg-type]  # each has been checked
        point._check()
        return point

    def _check(self) -> None:
        """Refuse an unknown cause, and restrictions that say nothing about the event."""
        if self.event == "wait" and self.cause not in (ANY, *CAUSE_EVENTS):
            raise ValueError(f"there is no wait {self.cause!r}: there are {', '.join((ANY, *CAUSE_EVENTS))}")
        none: list[str] = ["engine", "kernel"] if self.event in _NOWHERE else []
        none += [name for name, events in _ONLY_OF.items() if self.event not in events]
        none += ["nth"] if self.event in ("error", "hang") else []
        for name in none:
            if getattr(self, name) is not None:
                raise ValueError(f"{name} says nothing about {self.event}")

    def __str__(self) -> str:
        if self.cycle is not None:
            return f"cycle {self.cycle:,}"
        where = [f"{name}={value}" for name in (*_NUMBERS, *_TEXTS) if (value := getattr(self, name)) is not None]
        if self.event == "start" and where:
            return ",".join(where)
        if self.event in _EVENTS_OF:
            event = f"{self.event}={getattr(self, _EVENTS_OF[self.event])}"
        else:
            event = self.event + ("" if self.fifo is None else f":{self.fifo}")
        return ",".join([event, *where])
