"""Ports with queues in front of a crossbar and limits on requests in flight, common to `hc2` and `hbm2`."""

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.memory.crossbar import Calendar, divide_calendars, make_calendars
from cyscc.sim.memory.profiles.profile import Profile, State
from cyscc.sim.memory.records import MAX_PORTS, Ring
from cyscc.sim.memory.structures import Halves, Record, Rows, Words

_LINKS = 512
"""Most links of an AE."""


class WriteQueue(Record):
    """A port's writes in flight, by the cycles in which the port sees their completion."""

    places: Ring
    complete: Words
    last: int


class Own(Record):
    """An AE's path to the memory.

    `most` is the limit of reads and writes in flight of a port, `full` the masks of the ports at the limit. `soonest`
    has the first cycle in which each port's next request can enter a link, counted from `base` on. `near` has a word of
    each link for the 64 cycles from there on, in which a bit is 1 if the cycle is reserved, `links` the later ones, the
    last of which is `last`.
    """

    most: Annotated[Words, 2]
    full: Annotated[Words, 2]
    base: int
    last: int
    soonest: Annotated[Halves, MAX_PORTS]
    near: Annotated[Words, _LINKS]
    links: Calendar
    writes: Annotated[Rows[WriteQueue], MAX_PORTS]


class QueuedPorts(Profile):
    """Base of profiles in which a port's requests enter links of its AE's crossbar in order, one a cycle.

    A derived profile declares the parameters named here, and defines the links and their targets.

    Members
    -------
    of_channels : (str, str)
        Parameters of the lowest address bit of the channel, and of the number of channels.
    """

    Own: ClassVar[type[Record]] = Own
    of_channels: ClassVar[tuple[str, str]] = ("channel_bit", "channels")

    request_travel: int
    flush_travel: int
    port_queue: int
    reads_in_flight: int
    writes_in_flight: int

    def check_powers(self, *names: str) -> None:
        """Refuse address map parameters that are not powers of two."""
        for name in names:
            if (value := getattr(self, name)) & (value - 1):
                raise ValueError(f"memory {name} must be a power of two, not {value!r}")

    def arrival(self, entered: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return when requests are at their channels, after travel."""
        return entered + self.request_travel

    def _bit_and_channels(self) -> tuple[int, int]:
        bit, channels = (int(getattr(self, name)) for name in self.of_channels)
        return bit, channels

    def channel_of(self, address: Any) -> Any:
        """Return the channel of byte addresses."""
        bit, channels = self._bit_and_channels()
        return (address >> bit) & (channels - 1)

    def with_channel(self, address: NDArray[np.int64], channel: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return byte addresses in other channels, their other bits unchanged."""
        bit, channels = self._bit_and_channels()
        wrong = channel[(channel < 0) | (channel >= channels)]
        if wrong.size:
            raise ValueError(f"memory {self.name} has no channel {wrong[0]}: it has {channels}")
        return address & ~((channels - 1) << bit) | channel << bit

    @property
    def flush_latency(self) -> int:
        """Least cycles of a flush."""
        return self.flush_travel

    @property
    def reads_in_flight_limit(self) -> int:
        """The limit."""
        return self.reads_in_flight

    def build_ports(self, state: State, *, ports: int, links: int) -> tuple[int, int]:
        """Allocate calendars of an AE's links and queues of writes, large enough that none can overflow.

        Returns
        -------
        int
            Most cycles that a link can be reserved ahead.
        int
            Most requests that all AEs can have in flight.
        """
        arena, own = state.arena, state.own
        own["most"] = self.reads_in_flight, self.writes_in_flight
        # Worst case: all ports have a full queue for the same link.
        ahead = ports * (self.port_queue + 2)
        make_calendars(arena, own["links"], links=links, horizon=ahead)
        depth = 1 << self.writes_in_flight.bit_length()
        own["writes"]["places"]["mask"] = depth - 1
        own["writes"]["last"] = -1
        arena.link(own["writes"][:, :ports], "complete", int, depth)
        return ahead, own.size * ports * (self.reads_in_flight + self.writes_in_flight)

    def divide(self, state: State, parts: int) -> None:
        """Divide the calendars that all AEs share."""
        for name, kind in self.Shared.members.items():
            if kind is Calendar:
                divide_calendars(state.shared[name], parts)

    def check(self, state: State, *, ports: int) -> None:
        """Refuse full ports that do not exist."""
        if (state.own["full"] >> ports).any():
            raise ValueError("the memory's full ports are impossible")
