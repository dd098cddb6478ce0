"""What the memory is made of: every record of its state, declared once.

The context is all that the compiled functions are given. In it lies a side for each AE, which only that AE's calls
touch, and what the profile's resources share. A batch holds the requests of one AE and round. Of the mailbox there is
a view in C++, see `sim.memory.functions`.
"""

from enum import IntEnum
from functools import cache
from typing import Annotated, Any

from sim.memory.structures import LINE_WORDS, Bytes, Constant, Record, Rows, Words, seldom

__all__ = [
    "BASE_ADDRESS",
    "BATCHES",
    "FLUSH",
    "FLUSH_DEPTH",
    "HISTOGRAM_BINS",
    "MAX_ENGINES",
    "MAX_PORTS",
    "NEAR",
    "NEVER",
    "READ",
    "TAG_BITS_LIMIT",
    "WRITE",
    "Batch",
    "Context",
    "EngineRecord",
    "Error",
    "ErrorCode",
    "Mailbox",
    "Places",
    "Port",
    "Request",
    "Response",
    "Ring",
    "Service",
    "ServiceRecord",
    "Side",
    "Statistics",
    "context_of",
    "in_lines",
]

MAX_ENGINES = 4
MAX_PORTS = 32
BASE_ADDRESS = 4096
NEVER = 2**62
READ, WRITE, FLUSH = 0, 1, 2
BATCHES = 3
NEAR = 512
"""Cycles ahead whose responses lie in rows, as in the mailbox; later ones wait in a ring for each port, which takes
longer. Reads of the machine at work, whose memory has the profile `hc2`, take 440 cycles at most."""
FLUSH_DEPTH = 64
TAG_BITS_LIMIT = 16
HISTOGRAM_BINS = 2048


class ErrorCode(IntEnum):
    """What can be wrong; 0 is nothing."""

    OUTSIDE = 1
    MISALIGNED = 2
    NOT_READY = 3
    MALFORMED = 4
    LOG_FULL = 5
    RING_FULL = 6
    OVERBOOKED = 7
    LATE = 8


class Error(Record):
    """The first thing that went wrong: what, with which request, where and when."""

    code: int
    kind: int
    value: int
    engine: int
    port: int
    cycle: int

    @seldom
    def note(self, code: int, kind: int, value: int, ae: int, port: int, cycle: int) -> None:
        """Note an error unless there is one already."""
        if self.code == 0:
            self.code = code
            self.kind = kind
            self.value = value
            self.engine = ae
            self.port = port
            self.cycle = cycle


class Mailbox(Record, lines=True, word="<u8"):
    """What an AE and the memory exchange in a cycle; bit p of a mask is port p.

    `prepare` fills the masks of the ports that take a read or a write and of those that see a response or a completed
    flush, and the responses' tags and data; a port that sees none has the words of an earlier one. The AE sets the
    masks of its requests, in the order of the kinds, and their payloads; `accept` clears those masks.
    """

    read_ready: int
    write_ready: int
    responses: int
    flushed: int
    requests: Annotated[Words, LINE_WORDS - 4]
    tags: Annotated[Words, MAX_PORTS]
    data: Annotated[Words, MAX_PORTS]
    read_payloads: Annotated[Words, MAX_PORTS]
    write_payloads: Annotated[Words, MAX_PORTS]
    write_data: Annotated[Words, MAX_PORTS]


class Request(Record):
    """A logged request.

    `when` is cycle << 16 | port << 8 | array << 2 | kind. The array is an `ArrayKind`, noted when the request is served
    while a record is kept. `time` is what the profile's `enter` gave, and after the service what its `serve` gave;
    `data` is that of a write, and after the service that of a read.
    """

    when: int
    payload: int
    data: Annotated[Words, 1]
    time: int

    def cycle(self) -> int:
        """Return the cycle in which it was accepted."""
        return self.when >> 16

    def port(self) -> int:
        """Return its port."""
        return (self.when >> 8) & 255

    def kind(self) -> int:
        """Return READ, WRITE or FLUSH."""
        return self.when & 3

    def array(self) -> int:
        """Return the `ArrayKind` that was noted."""
        return (self.when >> 2) & 63

    def note_array(self, array: int) -> None:
        """Note the `ArrayKind` that it is to, which was not noted yet."""
        self.when |= array << 2

    def stamp(self, cycle: int, port: int, kind: int) -> None:
        """Say what it is."""
        self.when = cycle << 16 | port << 8 | kind


class Batch(Record, lines=True):
    """The requests of an AE and round: how many, and how many of them are served."""

    count: int
    served: int
    requests: Rows[Request]


class Ring(Record):
    """Places of a ring in use: numbers of the oldest and of the next one, of which the mask leaves the place."""

    head: int
    tail: int
    mask: Constant

    def full(self) -> bool:
        """Return whether all places are in use."""
        return self.tail - self.head > self.mask

    def oldest(self) -> int:
        """Return the place of the oldest element."""
        return self.head & self.mask

    def push(self) -> int:
        """Return the place for one more element."""
        place = self.tail & self.mask
        self.tail += 1
        return place


class Response(Record):
    """A response that is far ahead."""

    seen: int
    tag: int
    data: int


class Port(Record, lines=True):
    """What a port waits for: responses that are far ahead, and flushes by the cycles of their completion."""

    last_seen: int
    last_written: int
    last_flushed: int
    flush_due: int
    later: Ring
    responses: Rows[Response]
    flushes: Ring
    flush_times: Words


class Statistics(Record):
    """What is counted for an AE; the last bin of the histogram of read latencies is open."""

    reads4: int
    reads8: int
    writes4: int
    writes8: int
    flushes: int
    order_wait: int
    latency_excess: int
    latency_max: int
    histogram: Annotated[Words, HISTOGRAM_BINS]


class Side(Record, lines=True):
    """An AE's side of the memory: only `prepare`, `accept` and `deliver` of that AE touch it.

    `latest_entry` is the latest time that the profile's `enter` gave, `entering` counts the cycles until then. `due`
    has the masks of the ports with responses in each of the next cycles, `rows` their tags and then their data, `far`
    is the mask of the ports with later ones. `in_flight` and `stalls` count reads and from MAX_PORTS on writes. `own`
    is the profile's.
    """

    number: Constant
    width: Constant
    cycle: int
    soonest: int
    next_flush: int
    latest_entry: int
    entering: int
    far: int
    due: Words
    rows: Words
    error: Error
    in_flight: Annotated[Words, 2 * MAX_PORTS]
    stalls: Annotated[Words, 2 * MAX_PORTS]
    ports: Annotated[Rows[Port], MAX_PORTS]
    batches: Annotated[Rows[Batch], BATCHES]
    statistics: Statistics
    own: Any


class Service(Record, lines=True):
    """What serving requests changes: only `serve` touches it.

    `waited` counts the cycles of all accesses from the time that the profile's `enter` gave to that of its `serve`.
    `shared` are the profile's resources that AEs share.
    """

    waited: int
    error: Error
    shared: Any


class Places(Record, lines=True):
    """What lies where in the memory, for a record.

    An address is looked up in `blocks`, of 2**`shift` bytes each, or among `allocations`, whose addresses and kinds are
    `starts` and `kinds`.
    """

    shift: int
    allocations: int
    blocks: Bytes
    starts: Words
    kinds: Words


class EngineRecord(Record, lines=True):
    """What is recorded of an AE when its responses return, and of its stalls.

    `row` is the number of the interval whose requests are delivered now, `end` the cycle after it; `stall_row` and
    `stall_end` are those of the latest stall, `stalls` are the stalls of reads and of writes before it; `last` is the
    number of intervals that the rings have places for less 1. `arrays` and `engines` are rings of rows, one for each
    interval: of the arrays and of the AE.
    """

    row: int
    end: int
    stall_row: int
    stall_end: int
    stalls: Annotated[Words, 2]
    last: Constant
    arrays: Words
    engines: Words


class ServiceRecord(Record, lines=True):
    """What is recorded of banks and links when requests are served: only `serve` touches it.

    `row`, `end` and `last` are as those of an `EngineRecord`, of the interval whose requests are served now. Words of
    the memory are told apart as the profile's rule `place_of` does, up to `word_mask`.

    `counts` has, for each array and word, a packed count of accesses and of the cycles that they waited for their bank;
    what did not fit any more is in `totals`. `before` has the words' sums over the arrays when the present interval
    began.

    `since`, `more` and `links` are rings of rows, one for each interval: packed counts by word; what did not fit into
    those; and packed counts of every AE's links, `links_of_engine` each, of reads and what they waited, then of writes.
    Of an interval whose `filled` is 0 there is nothing of words, with bit 1 there is something in `more`.
    """

    row: int
    end: int
    last: Constant
    word_mask: Constant
    links_of_engine: Constant
    counts: Words
    before: Words
    totals: Words
    since: Words
    more: Words
    filled: Words
    links: Words


class Context(Record, lines=True):
    """The memory. `rules` are the profile's parameters and rules.

    `interval` is that of the record in cycles, 0 where none is kept; `recorded` is the first cycle that it has not yet
    all of. `serve_recorded`, `deliver_recorded` and `record_until` are addresses of code for it.
    """

    engines: Constant
    ports: Constant
    row: Constant
    every: Constant
    batch_depth: Constant
    accepted: int
    served: int
    delivered: int
    settled: int
    top: int
    address_mask: Constant
    size_bit: Constant
    tag_shift: Constant
    tag_mask: Constant
    interval: int
    recorded: int
    serve_recorded: int
    deliver_recorded: int
    record_until: int
    storage: Words
    mailboxes: Rows[Mailbox]
    sides: Rows[Side]
    places: Rows[Places]
    engine_records: Rows[EngineRecord]
    service_record: Rows[ServiceRecord]
    error: Error
    rules: Any
    service: Any


@cache
def context_of(profile: type[Any]) -> tuple[type[Side], type[Context]]:
    """Return the records of an AE's side and of the memory for a profile."""
    name = {"__module__": profile.__module__}

    def special(base: type[Record], **kinds: Any) -> Any:
        named = {**name, "__qualname__": f"{profile.__qualname__}.{base.__name__}", "__annotations__": kinds}
        return type(base.__name__, (base,), named, lines=True)

    side = special(Side, own=profile.Own)
    service = special(Service, shared=profile.Shared)
    return side, special(Context, sides=Rows[side], rules=profile, service=service)  # type: ignore[valid-type]


def in_lines(words: int) -> int:
    """Return the words of as many cache lines as some words need."""
    return -(-words // LINE_WORDS) * LINE_WORDS
