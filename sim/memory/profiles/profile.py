"""Base of memory profiles: parameters, the timing rules of requests, and guarantees about them."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from fractions import Fraction
from hashlib import sha256
from inspect import isfunction
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cyscc.hw.values import plain
from cyscc.sim import arrays
from cyscc.sim.memory.structures import Arena, Constant, Record, Words, laid_out

# Computed at import: this process does not run later changes of the files.
_PACKAGE = Path(__file__).parents[1]
_FILES = (
    *sorted(file for file in _PACKAGE.rglob("*.*") if file.suffix in (".py", ".h", ".cpp", ".toml")),
    Path(arrays.__file__),
)
_SOURCES = sha256(b"".join(source.read_bytes() for source in _FILES))

OUTSIDE = "memory_profile_"
"""Start of the names of modules that are files of rules."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Rule(NamedTuple):
    """A rule of a profile: the state that it gets, its numbers after that, and its answer."""

    state: Literal["", "own", "shared"]
    numbers: tuple[str, ...]
    answer: Literal["nothing", "an integer", "whether", "two masks, integers"]


RULES = {
    "before_entries": Rule("own", ("ae", "cycle"), "nothing"),
    "enter": Rule("own", ("ae", "port", "kind", "address", "cycle"), "an integer"),
    "before_service": Rule("shared", ("now",), "nothing"),
    "serve": Rule("shared", ("ae", "address", "is_read", "entered", "now"), "an integer"),
    "bank_waits": Rule("shared", (), "an integer"),
    "link_of": Rule("", ("address",), "an integer"),
    "place_of": Rule("", ("address", "last"), "an integer"),
    "read_back": Rule("own", ("ae", "port", "cycle", "time"), "an integer"),
    "written": Rule("own", ("ae", "port", "cycle", "time"), "an integer"),
    "flushed": Rule("", ("now",), "an integer"),
    "answered": Rule("own", ("ae", "shown"), "nothing"),
    "stalled": Rule("own", ("ae", "cycle"), "two masks, integers"),
    "restless": Rule("own", ("ae", "cycle"), "whether"),
}
"""The rules that a file of the user's can replace, along a request's path.

================ ============================== ======================================================================
rule             called                         answers
================ ============================== ======================================================================
`before_entries` once a cycle, before any       nothing
                 `enter`
`enter`          when a request is accepted     its `time`: when it has entered the way to the memory; below 0 where
                                                that is too far ahead
`before_service` once a cycle, before any       nothing
                 `serve`
`serve`          in the order of all requests   its new `time`: when the memory has done its part; likewise
`bank_waits`     around each `serve`            the cycles that all accesses have waited for their banks so far
`link_of`        after it                       the AE's link that an address uses
`place_of`       after it                       what the record counts an address for, at most `last`
`read_back`      when a read returns            when the response is at the port
`written`        when a write returns           when it is complete
`flushed`        when a flush returns           when it is complete, if the port's writes are
`answered`       when responses are seen        nothing; `shown` is the mask of the ports
`stalled`        before each cycle              the masks of the ports that take no read, and no write
`restless`       between cycles                 whether `stalled` may change without any request or response
================ ============================== ======================================================================

`bank_waits`, `link_of` and `place_of` are only used for the record of a profile that has `contention`. Rules with `own`
may access nothing else, because an AE runs ahead of the others; `shared` is the state that all AEs share.
"""


INHERITED = "inherited"
"""The parameter of a rule for the answer of the rule that it replaces."""


def rules_of(profile: "type[Profile]") -> dict[str, Callable[..., Any]]:
    """Return the rules that a file of the user's replaces, by name."""
    members = {name: getattr(profile, name, None) for name in RULES}
    return {
        name: member for name, member in members.items() if isfunction(member) and member.__module__.startswith(OUTSIDE)
    }


def digest_of(*more: Path) -> str:
    """Return a digest of all sources in this package, and of further files."""
    digest = _SOURCES.copy()
    for source in more:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def parameter(default: int | None, *, low: int, high: int) -> Any:
    """Declare a parameter of a profile: an integer from `low` to `high`, mandatory if `default` is None."""
    return field(default=MISSING if default is None else default, metadata={"low": low, "high": high})


def rule(function: Function) -> Function:
    """Mark a method of a user's profile as a rule; see `cyscc.sim.memory.profiles.rules`."""
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
    burst : Fraction
        Data bus time of an access.
    activate, five : Fraction
        Least time between row activations of a controller; from one to the fourth after it.
    opening, closing : Fraction
        Time that the row commands take which open and close a row, on the bus for them.
    sharing : int
        Controllers, neighbours, that share such a bus.
    column, row : Fraction
        Least bank time of an access to the open row; least time between activations of rows of a bank.
    refresh_interval, refresh : Fraction
        From a controller's refresh to its next one; its length.
    """

    burst: Fraction
    activate: Fraction
    five: Fraction
    opening: Fraction
    closing: Fraction
    sharing: int
    column: Fraction
    row: Fraction
    refresh_interval: Fraction
    refresh: Fraction

    @property
    def of_row(self) -> Fraction:
        """Least time of a controller for each row of many, if those of a bus open as many."""
        return max(self.activate, self.five / 4, self.sharing * (self.opening + self.closing))


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

    A profile of this package is a class, with parameters, state, address map and statistics, and a C++ header of its
    rules, named as the class's file, in `sim/memory/native/profiles`; `profile.h` there has the rules and their
    defaults. A profile from a file of the user's inherits one, and replaces single rules in Python or by a header of
    its own, see `cyscc.sim.memory.profiles.rules`.

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
    own, shared : mapping of str to int
        Further words of both, of a user's profile: the number of each.
    header : str
        The header of a user's profile that has one: a file beside its own.
    digest : str
        Digest of the memory's sources and the profile's files.
    """

    name: ClassVar[str]
    short: ClassVar[str] = ""
    clock: ClassVar[str] = ""
    Own: ClassVar[type[Record]] = Nothing
    Shared: ClassVar[type[Record]] = Nothing
    own: ClassVar[Mapping[str, int]] = {}
    shared: ClassVar[Mapping[str, int]] = {}
    header: ClassVar[str] = ""
    digest: ClassVar[str]
    dtype: ClassVar[np.dtype[np.void]]
    members: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        """Declare the parameters as a record, and those of a file of the user's with the addresses of its rules."""
        # A number in place of an inherited parameter is another default of it.
        inherited = getattr(cls, "__dataclass_fields__", {})
        for name, value in list(vars(cls).items()):
            if name in inherited and isinstance(value, int):
                setattr(cls, name, field(default=value, metadata=inherited[name].metadata))
        file = Path(str(sys.modules[cls.__module__].__file__))
        header = file.parent / str(cls.header)
        cls.digest = digest_of(file, *([header] if cls.header and header.is_file() else []))
        cls.members = {name: Constant for name, kind in get_type_hints(cls).items() if kind is int}
        if cls.__module__.startswith(OUTSIDE):
            cls.members |= {"rules": Annotated[Words, len(RULES)]}
        cls.dtype = laid_out(cls.members)

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

    def arrival(self, entered: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return when requests are at their channels, in clocks of the memory, given the results of `enter`."""
        return entered

    def channel_of(self, address: Any) -> Any:
        """Return the channel of byte addresses; 0 of a memory without channels."""
        return address * 0

    def with_channel(self, address: NDArray[np.int64], channel: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return byte addresses in other channels.

        Raises
        ------
        ValueError
            There is no such channel.
        """
        if channel.any():
            raise ValueError(f"memory {self.name} has no channel {channel.max()}: it has 1")
        return address

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
