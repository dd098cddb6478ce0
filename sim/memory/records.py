"""Declarations of all records of the memory's state.

Compiled functions get only the context. It has a side for each AE, accessed only by that AE's calls, and the shared
resources of the profile. A batch holds the requests of one AE and round, by parts of the service. The mailbox has a C++
view, see
`cyscc.sim.memory.functions`.
"""

from collections.abc import Mapping
from enum import IntEnum
from functools import cache
from typing import Annotated, Any

from cyscc.sim.memory.structures import LINE_WORDS, Bytes, Constant, Halves, Record, Rows, Words

MAX_ENGINES = 4
MAX_PORTS = 32
MAX_PARTS = 8
BASE_ADDRESS = 4096
NEVER = 2**62
LATEST = 10**9
"""Most cycles that rules from a file may answer to be ahead."""
READ, WRITE, FLUSH = 0, 1, 2
BATCHES = 3
NEAR = 512
"""Cycles ahead for which responses are stored in rows by cycle, laid out as in the mailbox; later ones wait in a slower
ring for each port. With the profile `hc2`, reads of the machine in operation take 440 cycles at most."""
FLUSH_DEPTH = 64
TAG_BITS_LIMIT = 16
HISTOGRAM_BINS = 2048


class ErrorCode(IntEnum):
    """Codes of errors; 0 means none."""

    OUTSIDE = 1
    MISALIGNED = 2
    NOT_READY = 3
    MALFORMED = 4
    LOG_FULL = 5
    RING_FULL = 6
    OVERBOOKED = 7
    LATE = 8
    ANSWER = 9
    PLACE = 10


class Kept(IntEnum):
    """What is kept of requests."""

    NOTHING = 0
    RECORD = 1
    LOG = 2


class Error(Record):
    """The first error: code, request, AE, port and cycle."""

    code: int
    kind: int
    value: int
    engine: int
    port: int
    cycle: int


class Mailbox(Record, lines=True, word="<u8"):
    """Signals between an AE and the memory in a cycle; bit p of a mask is port p.

    `prepare` fills the masks of ports that are ready for a read or a write and of ports with a response or a completed
    flush, and the tags and data of responses; without a response, a port keeps earlier words. The AE sets the masks of
    its requests, in the order of the kinds, and their payloads; `accept` clears these masks.
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

    `when` is cycle << 16 | array << 7 | flush << 6 | port << 1 | write. The array is an `ArrayKind`, set during service
    while recording. `time` is the result of the profile's `enter`, from that cycle on, and after service that of its
    `serve`. `data` is that of a
    write, and after service that of a read.
    """

    when: int
    payload: int
    data: Annotated[Words, 1]
    time: int


class Queue(Record, lines=True):
    """The requests of an AE and round that a part of the service performs, their number, and the number served."""

    count: int
    served: int
    requests: Rows[Request]


class Batch(Record, lines=True):
    """The requests of an AE and round, in a queue for each part of the service, and their number.

    If there are several parts, `order` has the places of the requests in the order of acceptance, counted from the
    first queue's first request on: one queue's places follow another's.
    """

    count: int
    order: Words
    queues: Annotated[Rows[Queue], MAX_PARTS]


class Ring(Record):
    """Indices of a ring buffer: numbers of the oldest and of the next element, masked to get their slots."""

    head: int
    tail: int
    mask: Constant


class Response(Record):
    """A response that is far ahead."""

    seen: int
    tag: int
    data: int


class Port(Record, lines=True):
    """Pending responses that are far ahead, and pending flushes by completion cycle, of a port."""

    last_flushed: int
    flush_due: int
    later: Ring
    responses: Rows[Response]
    flushes: Ring
    flush_times: Words


class Statistics(Record):
    """Counters of an AE; the last bin of the histogram of read latencies is open above."""

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
    """An AE's side of the memory, accessed only by `prepare`, `accept` and `deliver` of that AE.

    `entering` sums the cycles until the results of the profile's `enter`. `due` has the masks of the ports with
    responses in each of the next cycles, `rows` the payloads of their requests and then their data, `far` the mask of
    the ports with later responses, `next_far` the cycle of the first of these. `in_flight` and `stalls` count reads
    and, from MAX_PORTS on, writes. `last_seen` has the cycle of each port's last response, `last_written` that of its
    last complete write. `own` is the profile's state.
    """

    number: Constant
    width: Constant
    cycle: int
    soonest: int
    next_flush: int
    entering: int
    far: int
    next_far: int
    due: Words
    rows: Words
    error: Error
    in_flight: Annotated[Halves, 2 * MAX_PORTS]
    last_seen: Annotated[Words, MAX_PORTS]
    last_written: Annotated[Words, MAX_PORTS]
    stalls: Annotated[Words, 2 * MAX_PORTS]
    ports: Annotated[Rows[Port], MAX_PORTS]
    batches: Annotated[Rows[Batch], BATCHES]
    statistics: Statistics
    own: Any


class Service(Record, lines=True):
    """State of a part of the service, accessed only by `serve` of that part.

    `waited` sums the cycles of all accesses from the result of the profile's `enter` to that of its `serve`. `shared`
    is the profile's state shared by all AEs.
    """

    waited: int
    error: Error
    shared: Any


class Places(Record, lines=True):
    """Map from addresses to kinds of arrays, for a record.

    An address is looked up in `blocks`, of 2**`shift` bytes each, or among `allocations`, with addresses `starts` and
    kinds `kinds`.
    """

    shift: int
    allocations: int
    blocks: Bytes
    starts: Words
    kinds: Words


class EngineRecord(Record, lines=True):
    """Record of an AE's requests, responses and stalls.

    `row` is the number of the interval whose requests are being delivered, `end` the cycle after it; `port_row` and
    `port_end` are the same for the latest request or stall, `stalls` the stalls of reads and of writes before it;
    `last` is the capacity of the rings in intervals, less 1. `arrays`, `engines` and `links` are rings with one row per
    interval: for the arrays, for the AE, and for each of its links the packed counts of reads and their waiting cycles,
    and of writes. `requests` has the reads and writes of each link in the intervals before `port_row`.
    """

    row: int
    end: int
    port_row: int
    port_end: int
    stalls: Annotated[Words, 2]
    last: Constant
    arrays: Words
    engines: Words
    links: Words
    requests: Words


class ServiceRecord(Record, lines=True):
    """Record of banks, accessed only by `serve`: the parts of the service count in different words.

    `row`, `end` and `last` are as in `EngineRecord`, for the interval whose requests are being served. Words are
    indexed by the profile's rule `place_of`, up to `word_mask`.

    `counts` has, for each array and word, a packed count of accesses and their waiting cycles for the bank; overflow
    goes to `totals`. `before` has the words' sums over the arrays at the start of the current interval.

    `since` and `more` are rings with one row per interval: packed counts by word, and their overflow. If `filled` of an
    interval is 0, it has no counts by word; if bit 1 is set, there are counts in `more`.
    """

    row: int
    end: int
    last: Constant
    word_mask: Constant
    counts: Words
    before: Words
    totals: Words
    since: Words
    more: Words
    filled: Words


class AccessRange(Record):
    """Accesses to log: those to the addresses from `start` until before `end` whose data, masked, is `value`."""

    start: int
    end: int
    mask: int
    value: int


class AccessLog(Record, lines=True):
    """Log of an AE's accesses, accessed only by `deliver` of that AE.

    Accesses accepted from cycle `first` until before `end` are logged if they are in one of the first `ranges` of
    `chosen`. `rows` has room for `capacity` of them; `count` is their number, more than that if some were lost. If
    `following` is 1, `entered` has as much room for all requests of these cycles when they are accepted, with their
    entry into the way to the memory as their time; `entries` is their number. It is accessed by `accept`.
    """

    first: int
    end: int
    ranges: int
    count: int
    capacity: Constant
    following: int
    entries: int
    chosen: Rows[AccessRange]
    rows: Rows[Request]
    entered: Rows[Request]


class Context(Record, lines=True):
    """State of the memory. `rules` are the profile's parameters and rules.

    The first `parts` of `divisions` services are in use; an address is of the part that is the profile's `division_of`,
    shifted by `part_shift`.

    `kept` is what is kept of requests, a `Kept`. `interval` is the record's interval in cycles, 0 if not recording;
    `recorded` is the first cycle that is not completely recorded, `links_of_engine` the number of an AE's links in the
    record.
    """

    engines: Constant
    ports: Constant
    parts: Constant
    divisions: Constant
    part_shift: Constant
    row: Constant
    every: Constant
    batch_depth: Constant
    quantum: Constant
    accepted: int
    served: int
    delivered: int
    settled: int
    top: int
    address_mask: Constant
    size_bit: Constant
    tag_shift: Constant
    tag_mask: Constant
    kept: Constant
    interval: int
    recorded: int
    links_of_engine: Constant
    storage: Words
    mailboxes: Rows[Mailbox]
    sides: Rows[Side]
    places: Rows[Places]
    engine_records: Rows[EngineRecord]
    service_record: Rows[ServiceRecord]
    access_logs: Rows[AccessLog]
    error: Error
    rules: Any
    services: Any


@cache
def context_of(profile: type[Any]) -> tuple[type[Side], type[Service], type[Context]]:
    """Return the records of an AE's side, of a part of the service, and of the memory for a profile."""

    def special(base: type[Record], role: str, kinds: Mapping[str, Any], *, lines: bool = True) -> Any:
        about = {"__module__": profile.__module__, "__qualname__": f"{profile.__qualname__}.{role}"}
        return type(role, (base,), {**about, "__annotations__": dict(kinds)}, lines=lines)

    def extended(base: type[Record], role: str, words: Mapping[str, int]) -> Any:
        kinds = {name: int if count == 1 else Annotated[Words, count] for name, count in words.items()}
        return special(base, role, kinds, lines=False) if words else base

    own, shared = extended(profile.Own, "Own", profile.own), extended(profile.Shared, "Shared", profile.shared)
    side = special(Side, "Side", {"own": own})
    service = special(Service, "Service", {"shared": shared})
    links: dict[str, Any] = {"sides": Rows[side], "services": Rows[service]}  # type: ignore[valid-type]
    context = special(Context, "Context", {"rules": profile, **links})
    return side, service, context


def in_lines(words: int) -> int:
    """Round a number of words up to whole cache lines."""
    return -(-words // LINE_WORDS) * LINE_WORDS
