"""Ports with queues in front of a crossbar and limits on requests in flight, common to `hc2` and `hbm2`."""

from typing import Annotated, ClassVar

from cyscc.sim.memory.crossbar import Calendar, make_calendars
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
    """

    Own: ClassVar[type[Record]] = Own

    flush_travel: int
    port_queue: int
    reads_in_flight: int
    writes_in_flight: int

    def check_powers(self, *names: str) -> None:
        """Refuse address map parameters that are not powers of two."""
        for name in names:
            if (value := getattr(self, name)) & (value - 1):
                raise ValueError(f"memory {name} must be a power of two, not {value!r}")

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

    def check(self, state: State, *, ports: int) -> None:
        """Refuse full ports that do not exist."""
        if (state.own["full"] >> ports).any():
            raise ValueError("the memory's full ports are impossible")
