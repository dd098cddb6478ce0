"""Kinds of events of a run, and what a search for events can be restricted to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from cyscc.host.specification.numbers import check_numbers
from cyscc.host.specification.place import ANY, INSTRUCTION, Place
from cyscc.sim.observation.causes import IDLE_CAUSES

ORDERS = ("size", "time")
"""Orders of events: the largest first, or the earliest."""
TOP = 100
"""Most events of each kind that are kept, unless another number is given."""
LONGER = 100
"""Cycles that a wait is longer than, unless another number is given."""


class EventKind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind of events.

    Parameters
    ----------
    title : str
        Heading of its table.
    unit : str
        Unit of an event's `amount`, by which it is ordered.
    about : str
        Meaning of an event.
    parts : tuple of str
        Parts of a place that it can have, besides cycles and instructions.
    replayed : bool
        Whether it is found by a replay only.
    heads : dict of str to str
        Heads of columns of its table that others have not.
    """

    title: str
    unit: str
    about: str
    parts: tuple[str, ...] = ()
    replayed: bool = False
    heads: dict[str, str] = {}


KINDS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, EventKind])
"""Every kind of events by name."""


@dataclass(frozen=True, kw_only=True)
class EventQuery:
    """Events that are looked for.

    Parameters
    ----------
    kinds : sequence of str
        Names of kinds; empty for all that the place leaves.
    place : Place
        The part of the run in which they are looked for.
    longer : int or None
        Waits take more than so many cycles; None for those of the place, else `LONGER`. Given alone, only waits are
        looked for.
    replay : bool
        Whether the run is made again for all kinds that are known better then.
    order : str
        One of `ORDERS`.
    top : int
        Most events of each kind.

    Raises
    ------
    ValueError
        There is no such kind or order, or a kind has no such place.
    """

    kinds: Sequence[str] = ()
    place: Place = field(default_factory=Place)
    longer: int | None = None
    replay: bool = False
    order: str = "size"
    top: int = TOP

    def __post_init__(self) -> None:
        check_numbers(self, longer=0, top=1)
        if self.longer is None:
            object.__setattr__(self, "longer", self.place.longer)
        if self.order not in ORDERS:
            raise ValueError(f"there is no order {self.order!r}: there are {' and '.join(ORDERS)}")
        for name in self.kinds:
            if name not in KINDS:
                raise ValueError(f"there is no kind of events {name!r}: there are {', '.join(KINDS)}")
        for name in self.kinds:
            for part in self._parts:
                if part not in KINDS[name].parts:
                    raise ValueError(f"{part} says nothing about events of the kind {name}")
        if self.longer is not None and "wait" not in self.chosen:
            raise ValueError(f"longer is about waits, and not about {', '.join(self.chosen)}")
        if "wait" in self.chosen and self.cause in IDLE_CAUSES:
            raise ValueError(f"no kernel waits for {self.cause}: it is known of intervals only")
        if not self.chosen:
            raise ValueError(f"no kind of events has {' and '.join(self._parts)}")

    @property
    def cause(self) -> str | None:
        """The only cause of waits and limits; None for all."""
        return None if self.place.cause == ANY else self.place.cause

    @property
    def _parts(self) -> list[str]:
        """Parts of the place that some kinds do not have."""
        common = ("cycles", "longer", *INSTRUCTION, *([] if self.cause else ["cause"]))
        return [name for name in self.place.given if name not in common]

    @property
    def chosen(self) -> tuple[str, ...]:
        """The kinds that are looked for."""
        if self.kinds:
            return tuple(name for name in KINDS if name in self.kinds)
        own = [name for name, kind in KINDS.items() if set(self._parts) <= set(kind.parts)]
        if self.longer is not None and not self.replay:
            return tuple(name for name in own if name == "wait")
        return tuple(name for name in own if self.replay or not KINDS[name].replayed)

    @property
    def replayed(self) -> bool:
        """Whether the run has to be made again."""
        return self.replay or any(KINDS[name].replayed for name in self.chosen)
