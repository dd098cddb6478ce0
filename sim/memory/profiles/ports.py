"""Ports with queues in front of a crossbar and limits on requests in flight, common to `hc2` and `hbm2`."""

from typing import Annotated, Any, ClassVar

from cyscc.sim.memory.compiling import apart, trailing_zeros
from cyscc.sim.memory.crossbar import Calendar, make_calendars
from cyscc.sim.memory.profiles.profile import Profile, State, rule
from cyscc.sim.memory.records import MAX_PORTS, READ, WRITE, ErrorCode, Request, Ring, Side
from cyscc.sim.memory.structures import Record, Rows, Words


class WriteQueue(Record):
    """A port's writes in flight, by the cycles in which the port sees their completion."""

    places: Ring
    complete: Words
    last: int


class Own(Record):
    """An AE's path to the memory.

    `most` is the limit of reads and writes in flight of a port, `full` the masks of the ports at the limit, `entered`
    each port's latest entry into a link.
    """

    most: Annotated[Words, 2]
    full: Annotated[Words, 2]
    entered: Annotated[Words, MAX_PORTS]
    links: Calendar
    writes: Annotated[Rows[WriteQueue], MAX_PORTS]


@apart
def _retire_writes(side: Side, limit: int, cycle: int) -> None:
    """Retire the complete writes of full ports."""
    own = side.own
    full = own.full[WRITE]
    still_full = full
    while full != 0:
        port = trailing_zeros(full)
        full &= full - 1
        queue = own.writes[port]
        places = queue.places
        while places.head != places.tail and queue.complete[places.oldest()] <= cycle:
            places.head += 1
            side.in_flight[MAX_PORTS + port] -= 1
        if side.in_flight[MAX_PORTS + port] < limit:
            still_full &= ~(1 << port)
    own.full[WRITE] = still_full


@apart
def _crowded(side: Side, latest: int) -> int:
    """Return the mask of the ports whose last entry into a link is at cycle `latest` or later."""
    entered = side.own.entered
    crowded = 0
    for port in range(side.width):
        crowded |= (entered[port] >= latest) << port
    return crowded


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
        own["entered"] = -1
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

    @rule
    def before_entries(self, side: Side, cycle: int) -> None:
        """Advance the calendars of requests to a cycle."""
        side.own.links.advance(cycle)

    @rule
    def enter(self, side: Side, port: int, kind: int, address: int, cycle: int) -> int:
        """Return when a request enters its link: in order on each port, in a free cycle of the link."""
        own = side.own
        entry = own.links.book(self.link_of(address), max(cycle, own.entered[port] + 1), cycle, 1)
        own.entered[port] = entry
        if side.in_flight[kind * MAX_PORTS + port] >= own.most[kind]:
            own.full[kind] |= 1 << port
        return entry

    @rule
    def written(self, side: Side, port: int, request: Request) -> int:
        """Return when a write is complete; a port sees completions in order, one per cycle."""
        queue = side.own.writes[port]
        if queue.places.full():
            side.error.note(ErrorCode.RING_FULL, WRITE, queue.places.mask + 1, side.number, port, request.cycle())
            return request.time
        queue.last = max(request.time, queue.last + 1)
        queue.complete[queue.places.push()] = queue.last
        return request.time

    @rule
    def flushed(self, now: int) -> int:
        """Return when a flush is complete, if the port's writes are."""
        return now + self.flush_travel

    @rule
    def answered(self, side: Side, shown: int) -> None:
        """Make ports ready for reads again."""
        side.own.full[READ] &= ~shown

    @rule
    def stalled(self, side: Side, cycle: int) -> tuple[int, int]:
        """Return the masks of the ports with a full queue, or with too many requests in flight."""
        own = side.own
        if own.full[WRITE] != 0:
            _retire_writes(side, self.writes_in_flight, cycle)
        crowded = 0
        if side.latest_entry >= cycle + self.port_queue:
            crowded = _crowded(side, cycle + self.port_queue)
        return crowded | own.full[READ], crowded | own.full[WRITE]

    @rule
    def bank_waits(self, shared: Any) -> int:
        """Return the total cycles that accesses have waited for their banks; `Shared.waited`."""
        waited: int = shared.waited
        return waited

    @rule
    def restless(self, side: Side, cycle: int) -> bool:
        """Return whether a port is not ready, which may change with time alone."""
        own = side.own
        return side.latest_entry >= cycle + self.port_queue or (own.full[READ] | own.full[WRITE]) != 0
