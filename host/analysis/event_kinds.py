"""Kinds of events of a run, and what a search for events can be restricted to."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple

from cyscc.host.record.tables import MODULES
from cyscc.host.specification.run import check_numbers, checked_number
from cyscc.sim.observation.causes import CAUSE_NAMES, IDLE_CAUSES

__all__ = ["INSTRUCTION", "KERNEL", "KINDS", "LONGER", "ORDERS", "TOP", "EventKind", "EventQuery", "EventScope"]

ORDERS = ("size", "time")
"""Orders of events: the largest first, or the earliest."""
TOP = 100
"""Most events of each kind that are kept, unless another number is given."""
LONGER = 100
"""Cycles that a wait is longer than, unless another number is given."""

INSTRUCTION = ("iteration", "phase", "level")
"""Restrictions to instructions."""
KERNEL = ("engine", "module", "kernel")
"""Restrictions to kernels."""


class EventKind(NamedTuple):
    """A kind of events.

    Parameters
    ----------
    title : str
        Heading of its table.
    unit : str
        Unit of an event's `amount`, by which it is ordered.
    about : str
        Meaning of an event.
    scope : tuple of str
        Restrictions that it can have, besides those to instructions.
    replayed : bool
        Whether it is found by a replay only.
    """

    title: str
    unit: str
    about: str
    scope: tuple[str, ...] = ()
    replayed: bool = False


KINDS = {
    "wait": EventKind(
        "waits",
        "cycles",
        "a kernel has one cause for a number of cycles without a break",
        (*KERNEL, "cause"),
        replayed=True,
    ),
    "cause": EventKind(
        "limits",
        "of kernel-cycles",
        "an interval: the cause other than work with most kernel-cycles, and the kernel that has most of them",
        (*KERNEL, "cause"),
    ),
    "fifo": EventKind(
        "FIFOs full at times",
        "cycles",
        "consecutive intervals in which a kernel's FIFO held as many entries as its depth",
        (*KERNEL, "fifo"),
    ),
    "bank": EventKind("hottest banks", "accesses", "an interval: the bank with most accesses", ("bank",)),
    "controller": EventKind("hottest controllers", "accesses", "an interval: the controller with most accesses"),
    "link": EventKind("hottest links", "requests", "an interval: the AE's link with most requests", ("engine",)),
    "port": EventKind(
        "stalled ports",
        "of port-cycles",
        "an interval: the share of the cycles of all ports in which they took no read, or no write",
        ("engine",),
    ),
    "latency": EventKind(
        "slowest reads",
        "cycles",
        "an interval: the mean latency of its reads, and the array whose reads took longest",
        ("engine",),
    ),
    "duplicate": EventKind("vertices pushed again", "entries", "an instruction that pushed vertices more than once"),
    "overflow": EventKind(
        "overflows", "entries", "an instruction whose queues overflowed, so that the run began anew with larger ones"
    ),
}
"""Every kind of events by name."""


@dataclass(frozen=True, kw_only=True)
class EventScope:
    """Part of a run to which events are restricted; None restricts nothing.

    Parameters
    ----------
    iteration, phase, level : optional
        The instructions.
    engine, module, kernel : optional
        The kernels.
    cause : str or None
        The cause.
    fifo : str or None
        The FIFO.
    bank : tuple of (int, int) or None
        Controller and number of the bank.
    """

    iteration: int | None = None
    phase: str | None = None
    level: int | None = None
    engine: int | None = None
    module: str | None = None
    kernel: int | None = None
    cause: str | None = None
    fifo: str | None = None
    bank: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check_numbers(self, iteration=1, level=-1, engine=0, kernel=0)
        if self.module not in (None, *MODULES):
            raise ValueError(f"module must be {' or '.join(MODULES)}, not {self.module!r}")
        if self.bank is not None:
            controller, bank = (checked_number("bank", each, low=0) for each in self.bank)
            object.__setattr__(self, "bank", (controller, bank))

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the restrictions other than those to instructions."""
        return tuple(
            each.name for each in fields(self) if each.name not in INSTRUCTION and getattr(self, each.name) is not None
        )

    def point(self, names: Collection[str]) -> str:
        """Return these restrictions as the end of a point: ``,engine=0,level=3``."""
        return "".join(
            f",{name}={value}" for name, value in asdict(self).items() if name in names and value is not None
        )


@dataclass(frozen=True, kw_only=True)
class EventQuery:
    """Events that are looked for.

    Parameters
    ----------
    kinds : sequence of str
        Names of kinds; empty for all that the restrictions leave.
    scope : EventScope
        The restrictions.
    longer : int or None
        Waits take more than so many cycles; None for `LONGER`. Given alone, only waits are looked for.
    replay : bool
        Whether the run is made again for all kinds that are known better then.
    order : str
        One of `ORDERS`.
    top : int
        Most events of each kind.

    Raises
    ------
    ValueError
        There is no such kind, cause or order, or a kind cannot be restricted so.
    """

    kinds: Sequence[str] = ()
    scope: EventScope = EventScope()
    longer: int | None = None
    replay: bool = False
    order: str = "size"
    top: int = TOP

    def __post_init__(self) -> None:
        check_numbers(self, longer=0, top=1)
        if self.order not in ORDERS:
            raise ValueError(f"there is no order {self.order!r}: there are {' and '.join(ORDERS)}")
        for name in self.kinds:
            if name not in KINDS:
                raise ValueError(f"there is no kind of events {name!r}: there are {', '.join(KINDS)}")
        if self.scope.cause not in (None, *CAUSE_NAMES):
            raise ValueError(f"there is no cause {self.scope.cause!r}: there are {', '.join(CAUSE_NAMES)}")
        for name in self.kinds:
            for restriction in self.scope.given:
                if restriction not in KINDS[name].scope:
                    raise ValueError(f"{restriction} says nothing about events of the kind {name}")
        if self.longer is not None and "wait" not in self.chosen:
            raise ValueError(f"longer is about waits, and not about {', '.join(self.chosen)}")
        if "wait" in self.chosen and self.scope.cause in IDLE_CAUSES:
            raise ValueError(f"no kernel waits for {self.scope.cause}: it is known of intervals only")
        if not self.chosen:
            raise ValueError(f"no kind of events has {' and '.join(self.scope.given)}")

    @property
    def chosen(self) -> tuple[str, ...]:
        """The kinds that are looked for."""
        if self.kinds:
            return tuple(name for name in KINDS if name in self.kinds)
        own = [name for name, kind in KINDS.items() if set(self.scope.given) <= set(kind.scope)]
        if self.longer is not None and not self.replay:
            return tuple(name for name in own if name == "wait")
        return tuple(name for name in own if self.replay or not KINDS[name].replayed)

    @property
    def replayed(self) -> bool:
        """Whether the run has to be made again."""
        return self.replay or any(KINDS[name].replayed for name in self.chosen)
