"""What a memory profile is: parameters, the rules that requests meet, and what may be assumed of them."""

import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from fractions import Fraction
from inspect import isfunction
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from sim.memory.compiling import digest_of
from sim.memory.records import Request, Side
from sim.memory.structures import Address, Constant, Record, Room, declare

__all__ = ["Contention", "Nothing", "Profile", "RowTimes", "State", "parameter", "rule"]

Rule = TypeVar("Rule", bound=Callable[..., Any])


def parameter(default: int | None, *, low: int, high: int) -> Any:
    """Declare a parameter of a profile: an integer from `low` to `high`, to be given where `default` is None."""
    return field(default=MISSING if default is None else default, metadata={"low": low, "high": high})


def rule(function: Rule) -> Rule:
    """Mark a method of a profile that is compiled; `self` has the parameters there, and the other rules."""
    function.__dict__["rule"] = True
    return function


class Nothing(Record):
    """State of a profile that has none."""


@dataclass(frozen=True, kw_only=True)
class State:
    """State of a profile.

    Parameters
    ----------
    own : ndarray of Profile.Own
        That of each AE.
    shared : ndarray of Profile.Shared
        What all share; one element.
    room : Room
        What holds the arrays that they link to.
    """

    own: NDArray[np.void]
    shared: NDArray[np.void]
    room: Room


@dataclass(frozen=True, kw_only=True)
class RowTimes:
    """Times of a memory whose banks have rows, in cycles of the machine.

    Parameters
    ----------
    burst, activate : Fraction
        Of a controller's data bus for an access; of a controller for opening a row.
    column, row : Fraction
        Of a bank for an access to the open row, at least; from opening a row to opening the next.
    refresh_interval, refresh : Fraction
        From a controller's refresh to its next one; its length.
    """

    burst: Fraction
    activate: Fraction
    column: Fraction
    row: Fraction
    refresh_interval: Fraction
    refresh: Fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class Contention:
    """What requests share, as far as the roofline may count on it; the record tells banks and links apart by it.

    Parameters
    ----------
    links : int
        Crossbar links of an AE, each of which takes one request a cycle.
    banks : int
        Memory banks.
    controllers : int
        Memory controllers, which have as many banks each; the first has the first ones.
    bank_busy : int
        Cycles of a bank for an access; of banks with rows, for one that opens a row.
    link_by_word, bank_by_word : ndarray of int64
        Link and bank of the 8-byte words of an address space that repeats after a power of two of them.
    bank_by_place : ndarray of int64, optional
        Bank of what the rule `place_of` tells apart; those of the words, where it tells these apart.
    rows : RowTimes, optional
        Times of banks with rows; None where each access takes `bank_busy`.
    """

    links: int
    banks: int
    controllers: int = 1
    bank_busy: int
    link_by_word: NDArray[np.int64]
    bank_by_word: NDArray[np.int64]
    bank_by_place: NDArray[np.int64] | None = None
    rows: RowTimes | None = None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Base of all profiles: a frozen dataclass whose fields are made by `parameter`; times in cycles of 150 MHz.

    The rules are compiled by numba for the machine's native loop. They follow a request's way:

    ========== ============================== ==============================================================
    rule       called                         returns
    ========== ============================== ==============================================================
    enter      when a request is accepted     its `time`: when it has entered the way to the memory; below 0
                                              where that is too far ahead
    serve      in the order of all requests   its new `time`: when the memory has done its part; likewise
    read_back  when a read returns            when the response is at the port
    written    when a write returns           when it is complete
    flushed    when a flush returns           when it is complete, if the port's writes are
    answered   when responses are seen        nothing
    stalled    before each cycle              the masks of the ports that take no read, and no write
    restless   between cycles                 whether `stalled` may change without any request or response
    bank_waits around each `serve`            the cycles that all accesses have waited for their banks so far
    link_of    after it                       the AE's link that an address uses
    place_of   after it                       what the record counts an address for
    ========== ============================== ==============================================================

    The last three matter to the record only, of a profile that has `contention`.

    `before_entries` and `before_service` are called once for a cycle, before any `enter` and `serve`. All
    but `serve` and `before_service` get the AE's `side` and may touch nothing else: an AE runs ahead of the others. The
    profile's own state of an AE is `side.own`; what AEs share, and only those two get, is `shared`.

    Members
    -------
    name : str
        What the command line calls it.
    short : str
        The parameter that may follow the name after a colon, if any.
    clock : str
        The parameter that is the machine's clock in MHz, of a profile with times of a clock of its own.
    Own, Shared : type of Record
        State of one AE, and of all together.
    digest : str
        Of the memory's sources and the profile's file.
    """

    name: ClassVar[str]
    short: ClassVar[str] = ""
    clock: ClassVar[str] = ""
    Own: ClassVar[type[Record]] = Nothing
    Shared: ClassVar[type[Record]] = Nothing
    digest: ClassVar[str]
    dtype: ClassVar[np.dtype[np.void]]
    address: ClassVar[Address]

    def __init_subclass__(cls) -> None:
        """Declare the parameters as a record, and the rules as its methods."""
        cls.digest = digest_of(Path(str(sys.modules[cls.__module__].__file__)))
        hints = get_type_hints(cls)
        members = ((name, getattr(cls, name)) for name in dir(cls))
        rules = {name: member for name, member in members if isfunction(member) and hasattr(member, "rule")}
        kinds = {name: Constant for name, kind in hints.items() if kind is int}
        cls.dtype, cls.address = declare(f"{cls.__module__}.{cls.__qualname__}", kinds, rules)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        for each in fields(self):
            value, low, high = getattr(self, each.name), each.metadata["low"], each.metadata["high"]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"memory {each.name} must be an integer from {low} to {high}, not {value!r}")

    def check_clock(self, mhz: float) -> None:
        """Refuse a machine with another clock than the profile is for.

        Raises
        ------
        ValueError
            Its clock is another one.
        """
        if self.clock and (own := getattr(self, self.clock)) != mhz:
            raise ValueError(f"memory {self.clock} is {own}, and clock_mhz of the configuration {mhz:g}: say one clock")

    def __str__(self) -> str:
        """Return the profile as text: what `parse_profile` reads, and in brackets what else was changed."""
        changed = {each.name: getattr(self, each.name) for each in fields(self) if self._told(each)}
        more = ", ".join(f"{name}={value}" for name, value in changed.items())
        colon = f":{getattr(self, self.short)}" if self.short else ""
        return f"{self.name}{colon}" + (f"({more})" if more else "")

    def _told(self, each: "Field[Any]") -> bool:
        return each.name != self.short and getattr(self, each.name) != each.default

    def describe(self) -> dict[str, Any]:
        """Return name, all parameters, and a digest of the memory's sources and the profile's, ready for JSON."""
        return {"profile": self.name, **asdict(self), "source": self.digest}

    @property
    def unloaded_latency(self) -> int:
        """Least cycles from the acceptance of a read to its response."""
        raise NotImplementedError

    @property
    def flush_latency(self) -> int:
        """Least cycles from the acceptance of a flush to its completion."""
        raise NotImplementedError

    @property
    def write_latency(self) -> int:
        """Least cycles from the acceptance of a write until a flush after it can be complete."""
        return 0

    @property
    def quantum(self) -> int:
        """Most cycles that AEs may run before they meet: the shortest time in which anything comes back."""
        return min(self.flush_latency, self.unloaded_latency)

    @property
    def reads_in_flight_limit(self) -> int:
        """Most reads of a port that can be in flight."""
        raise NotImplementedError

    @property
    def contention(self) -> Contention | None:
        """What requests share, None where that is nothing."""
        return None

    def build(self, state: State, *, ports: int) -> None:
        """Set the profile's state, which is all zero, before the first cycle; an AE has `ports` ports."""

    def statistics(self, state: State, *, cycles: int, entering: int, serving: int) -> dict[str, Any]:
        """Return what only this profile counts, ready for JSON; `waiting_cycles` is joined with that of all.

        Parameters
        ----------
        state : State
            Its state.
        cycles : int
            Cycles counted.
        entering, serving : int
            Sums over all accesses of the cycles from acceptance to what `enter` gave, and from there to what `serve`
            gave.
        """
        return {}

    def openings(self, state: State) -> NDArray[np.int64] | None:
        """Return the rows that each bank has opened, by its number; None where banks have none."""
        return None

    def reset_statistics(self, state: State) -> None:
        """Count from 0 on."""

    @rule
    def before_entries(self, side: Side, cycle: int) -> None:
        """Prepare for requests that an AE hands over in a cycle."""

    @rule
    def enter(self, side: Side, port: int, kind: int, address: int, cycle: int) -> int:
        """Return when a request has entered the way to the memory; at once."""
        return cycle

    @rule
    def before_service(self, shared: Any, now: int) -> None:
        """Prepare for requests of a cycle that are to be served."""

    @rule
    def serve(self, shared: Any, ae: int, address: int, is_read: int, entered: int, now: int) -> int:
        """Return when the memory has done its part of a read or a write; at once."""
        return entered

    @rule
    def bank_waits(self, shared: Any) -> int:
        """Return the cycles that all accesses have waited for their banks so far; none."""
        return 0

    @rule
    def link_of(self, address: int) -> int:
        """Return the link that an AE uses for a byte address; the first."""
        return 0

    @rule
    def place_of(self, address: int, last: int) -> int:
        """Return what the record counts a byte address for, `last` at most; its word, by the lowest bits."""
        return (address >> 3) & last

    @rule
    def read_back(self, side: Side, port: int, request: Request) -> int:
        """Return when a read's response is at the port."""
        return request.time

    @rule
    def written(self, side: Side, port: int, request: Request) -> int:
        """Return when a write is complete."""
        return request.time

    @rule
    def answered(self, side: Side, shown: int) -> None:
        """Note that the ports of a mask have seen a response."""

    @rule
    def stalled(self, side: Side, cycle: int) -> tuple[int, int]:
        """Return the masks of the ports that take no read, and no write, in a cycle; none."""
        return 0, 0

    @rule
    def restless(self, side: Side, cycle: int) -> bool:
        """Return whether `stalled` may change from a cycle on without any request or response."""
        return False
