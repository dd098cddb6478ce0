"""Base of memory profiles: parameters, the timing rules of requests, and guarantees about them."""

import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from fractions import Fraction
from inspect import isfunction
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cyscc.hw.values import plain
from cyscc.sim.memory.compiling import digest_of
from cyscc.sim.memory.records import Request, Side
from cyscc.sim.memory.structures import Address, Arena, Constant, Record, declare

OUTSIDE = "memory_profile_"
"""Start of the names of modules that are files of rules."""

Rule = TypeVar("Rule", bound=Callable[..., Any])


def parameter(default: int | None, *, low: int, high: int) -> Any:
    """Declare a parameter of a profile: an integer from `low` to `high`, mandatory if `default` is None."""
    return field(default=MISSING if default is None else default, metadata={"low": low, "high": high})


def rule(function: Rule) -> Rule:
    """Mark a method of a profile to be compiled; `self` then has the parameters and the other rules."""
    function.__dict__["rule"] = True
    return function


class Nothing(Record):
    """Empty state of a profile."""


@dataclass(frozen=True, kw_only=True)
class State:
    """State of a profile.

    Parameters
    ----------
    own : ndarray of Profile.Own
        State of each AE.
    shared : ndarray of Profile.Shared
        State shared by all AEs; one element, or `Profile.divisions` up to 8 for parts of the service.
    arena : Arena
        Owner of the arrays that they link to.
    """

    own: NDArray[np.void]
    shared: NDArray[np.void]
    arena: Arena


@dataclass(frozen=True, kw_only=True)
class RowTimes:
    """Times of a memory whose banks have rows, in cycles of the machine.

    Parameters
    ----------
    burst, activate : Fraction
        Data bus time of an access; least time between row activations of a controller.
    column, row : Fraction
        Least bank time of an access to the open row; least time between activations of rows of a bank.
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
    """Shared resources of requests, for the roofline, and for the record by bank and link.

    Parameters
    ----------
    links : int
        Crossbar links of an AE, each of which takes one request per cycle.
    banks : int
        Memory banks.
    controllers : int
        Memory controllers with equally many banks each, numbered in order.
    bank_busy : int
        Bank cycles of an access; in banks with rows, of an access that opens a row.
    link_by_word, bank_by_word : ndarray of int64
        Link and bank of each 8-byte word; the address map repeats after this power of two of words.
    bank_by_place : ndarray of int64, optional
        Bank of each value of the rule `place_of`; by default `bank_by_word`.
    rows : RowTimes, optional
        Timing of banks with rows; None if each access takes `bank_busy`.
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

    The rules are compiled by numba for the machine's native loop. In the order of a request's path:

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

    The last three are only used for the record of a profile that has `contention`.

    `before_entries` and `before_service` are called once per cycle, before any `enter` and `serve`. All rules except
    `serve` and `before_service` get the AE's `side`, and may access nothing else, because an AE runs ahead of the
    others. `side.own` is the profile's state of an AE; `shared`, which only these two get, is its state shared by all
    AEs.

    Members
    -------
    name : str
        Name on the command line.
    short : str
        The parameter that may follow the name after a colon, if any.
    clock : str
        The parameter with the machine's clock in MHz, for a profile with times in a clock of its own.
    Own, Shared : type of Record
        State of one AE, and state shared by all.
    digest : str
        Digest of the memory's sources and the profile's file.
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
        """Declare the parameters as a record, with the rules as its methods."""
        cls.digest = digest_of(Path(str(sys.modules[cls.__module__].__file__)))
        hints = get_type_hints(cls)
        members = ((name, getattr(cls, name)) for name in dir(cls))
        rules: dict[str, Callable[..., Any]] = {
            name: member for name, member in members if isfunction(member) and hasattr(member, "rule")
        }
        if cls.__module__.startswith(OUTSIDE):
            rules["is_outside"] = _yes
        kinds = {name: Constant for name, kind in hints.items() if kind is int}
        cls.dtype, cls.address = declare(f"{cls.__module__}.{cls.__qualname__}", kinds, rules)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        for each in fields(self):
            value, low, high = plain(getattr(self, each.name)), each.metadata["low"], each.metadata["high"]
            object.__setattr__(self, each.name, value)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"memory {each.name} must be an integer from {low} to {high}, not {value!r}")

    def check_clock(self, mhz: float) -> None:
        """Refuse a machine whose clock differs from the profile's.

        Raises
        ------
        ValueError
            The clocks differ.
        """
        if self.clock and (own := getattr(self, self.clock)) != mhz:
            raise ValueError(f"memory {self.clock} is {own}, and clock_mhz of the configuration {mhz:g}: say one clock")

    def __str__(self) -> str:
        """Return the profile as text for `parse_profile`, with overrides in parentheses."""
        changed = {each.name: getattr(self, each.name) for each in fields(self) if self._told(each)}
        more = ", ".join(f"{name}={value}" for name, value in changed.items())
        colon = f":{getattr(self, self.short)}" if self.short else ""
        return f"{self.name}{colon}" + (f"({more})" if more else "")

    def _told(self, each: "Field[Any]") -> bool:
        return each.name != self.short and getattr(self, each.name) != each.default

    def describe(self) -> dict[str, Any]:
        """Return name, all parameters, and a digest of the memory's sources and the profile's, JSON-able."""
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
        """Least cycles from the acceptance of a write until a later flush can complete."""
        return 0

    @property
    def quantum(self) -> int:
        """Most cycles that AEs may run between sync points: the shortest latency of any request."""
        return min(self.flush_latency, self.unloaded_latency)

    @property
    def reads_in_flight_limit(self) -> int:
        """Most reads of a port that can be in flight."""
        raise NotImplementedError

    @property
    def divisions(self) -> int:
        """Most parts, a power of two, into which the service can be divided by `division_of`.

        `serve` of an address then touches only what no other division touches, and its element of `State.shared`.
        """
        return 1

    @property
    def contention(self) -> Contention | None:
        """Shared resources, or None."""
        return None

    def build(self, state: State, *, ports: int) -> None:
        """Initialize the profile's zeroed state before the first cycle; an AE has `ports` ports."""

    def check(self, state: State, *, ports: int) -> None:
        """Refuse a state from a file with which a rule would leave an array; an AE has `ports` ports.

        Raises
        ------
        ValueError
            Something is out of range.
        """

    def divide(self, state: State, parts: int) -> None:
        """Divide the service among the first elements of `state.shared`, all of which are at the same cycle."""

    def statistics(self, state: State, *, cycles: int, entering: int, serving: int) -> dict[str, Any]:
        """Return the profile's own statistics, JSON-able; its `waiting_cycles` is merged with the common one.

        Parameters
        ----------
        state : State
            Its state.
        cycles : int
            Cycles counted.
        entering, serving : int
            Sums over all accesses of the cycles from acceptance to the result of `enter`, and from there to the result
            of `serve`.
        """
        return {}

    def openings(self, state: State) -> NDArray[np.int64] | None:
        """Return the number of rows opened by each bank; None if banks have no rows."""
        return None

    def reset_statistics(self, state: State) -> None:
        """Reset the counters."""

    @rule
    def before_entries(self, side: Side, cycle: int) -> None:
        """Prepare for an AE's requests of a cycle."""

    @rule
    def enter(self, side: Side, port: int, kind: int, address: int, cycle: int) -> int:
        """Return when a request has entered the path to the memory; at once."""
        return cycle

    @rule
    def before_service(self, shared: Any, now: int) -> None:
        """Prepare for serving the requests of a cycle."""

    @rule
    def division_of(self, address: int) -> int:
        """Return the division of a byte address, see `divisions`."""
        return 0

    @rule
    def serve(self, shared: Any, ae: int, address: int, is_read: int, entered: int, now: int) -> int:
        """Return when the memory has served a read or a write; at once."""
        return entered

    @rule
    def bank_waits(self, shared: Any) -> int:
        """Return the total cycles that accesses have waited for their banks; none."""
        return 0

    @rule
    def link_of(self, address: int) -> int:
        """Return the link that an AE uses for a byte address; the first."""
        return 0

    @rule
    def place_of(self, address: int, last: int) -> int:
        """Return the index, at most `last`, under which the record counts a byte address; its word by default."""
        return (address >> 3) & last

    @rule
    def read_back(self, side: Side, port: int, request: Request) -> int:
        """Return when a read's response is at the port."""
        return request.time

    @rule
    def written(self, side: Side, port: int, request: Request) -> int:
        """Return when a write is complete."""
        return request.time

    def flushed(self, now: int) -> int:
        """Return when a flush is complete, if the port's writes are; every profile has this rule."""
        raise NotImplementedError

    @rule
    def answered(self, side: Side, shown: int) -> None:
        """Update the state after the ports of a mask have seen a response."""

    @rule
    def stalled(self, side: Side, cycle: int) -> tuple[int, int]:
        """Return the masks of the ports that are not ready for reads, and for writes, in a cycle; none."""
        return 0, 0

    @rule
    def restless(self, side: Side, cycle: int) -> bool:
        """Return whether `stalled` may change from a cycle on without any request or response."""
        return False

    @rule
    def is_outside(self) -> bool:
        """Return whether the rules are from a file, so that their answers are checked; a constant."""
        return False


def _yes(self: Profile) -> bool:
    return True
