"""Points of a run: a cycle, or an event by name, restricted to some of its instructions and kernels."""

from dataclasses import dataclass

from host.record.tables import MODULES, PHASES
from host.runs.specification import whole_number
from sim.observation.causes import CAUSES, IDLE_CAUSES

__all__ = ["CAUSE_EVENTS", "EVENTS", "Point"]

CAUSE_EVENTS = tuple(cause.name for cause in CAUSES if cause.name not in IDLE_CAUSES)
"""Events that are the first cycle with a cause."""

EVENTS = ("start", *CAUSE_EVENTS, "full", "duplicate", "overflow", "idle", "error", "hang")
"""What may happen; ``start``, that an instruction is dispatched, is what a mere restriction means."""

_NOWHERE = ("start", "duplicate", "overflow", "error", "hang")
"""Events that are not told apart by kernels."""
_NUMBERS = {"level": 0, "iteration": 1, "engine": 0, "kernel": 0}
_TEXTS = {"phase": PHASES, "module": MODULES}


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point.

    Parameters
    ----------
    cycle : int or None
        The cycle; None where it is to be found.
    event : str
        The event, one of `EVENTS`.
    fifo : str or None
        Which FIFO is full; None for any.
    level, iteration, phase, module, engine, kernel : optional
        What it is restricted to.
    """

    cycle: int | None = None
    event: str = "start"
    fifo: str | None = None
    level: int | None = None
    iteration: int | None = None
    phase: str | None = None
    module: str | None = None
    engine: int | None = None
    kernel: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Point":
        """Return the point that a text names: ``120000``, ``level=3``, ``slot,engine=0,kernel=3,level=3``.

        Raises
        ------
        ValueError
            It names none.
        """
        first, *rest = text.split(",")
        values: dict[str, int | str] = {}
        if first[:1].isdecimal():
            if rest:
                raise ValueError(f"{text!r} is a cycle, and nothing can be said about it")
            return cls(cycle=_number("a cycle", first, 0))
        if "=" in first:
            rest = [first, *rest]
        else:
            event, colon, fifo = first.partition(":")
            if event not in EVENTS or (colon and event != "full"):
                raise ValueError(f"there is no point {first!r}: there are a cycle, level=N, {', '.join(EVENTS)}")
            values["event"] = event
            if colon:
                values["fifo"] = fifo
        for part in rest:
            name, _, value = part.partition("=")
            if name in values:
                raise ValueError(f"{name} is there twice in {text!r}")
            if name in _NUMBERS:
                values[name] = _number(name, value, _NUMBERS[name])
            elif name in _TEXTS:
                if value not in _TEXTS[name]:
                    raise ValueError(f"{name} must be {' or '.join(_TEXTS[name])}, not {value!r}")
                values[name] = value
            else:
                raise ValueError(f"{part!r} restricts nothing: there are {', '.join([*_NUMBERS, *_TEXTS])}")
        point = cls(**values)  # type: ignore[arg-type]  # each has been looked at
        if point.event in _NOWHERE:
            for name in ("engine", "kernel"):
                if getattr(point, name) is not None:
                    raise ValueError(f"{name} says nothing about {point.event}")
        return point

    def __str__(self) -> str:
        if self.cycle is not None:
            return f"cycle {self.cycle:,}"
        where = [f"{name}={value}" for name in (*_NUMBERS, *_TEXTS) if (value := getattr(self, name)) is not None]
        if self.event == "start" and where:
            return ",".join(where)
        return ",".join([self.event + ("" if self.fifo is None else f":{self.fifo}"), *where])


def _number(name: str, text: str, low: int) -> int:
    """Return the whole number that a text is, as command lines have it: ``1000``, ``1e3``, ``2^10``."""
    try:
        return whole_number(text, low=low)
    except ValueError:
        raise ValueError(f"{name} must be a number from {low} on, not {text!r}") from None
