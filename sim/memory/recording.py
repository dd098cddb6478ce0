"""What the memory records over time (compiled).

What a request waits is known when it is served, and recorded then, by what serves; how long its answer takes, when it
is delivered, by its AE. Each of them has a `Recording` of its own. Both meet requests in the order of their cycles, and
record them in the interval in which they were accepted. Only stalls belong to no request.
"""

from sim.arrays import ArrayKind
from sim.memory.blocks import SEVERAL
from sim.memory.compiling import apart, inlined, ones
from sim.memory.records import Context, Recording, Request, Side

__all__ = [
    "COUNT_BITS",
    "ENGINE_WORDS",
    "KINDS",
    "KIND_WORDS",
    "record_order",
    "record_response",
    "record_stalls",
    "record_until",
    "record_waits",
    "start_interval",
    "start_served_interval",
]

KINDS = len(ArrayKind)
"""Arrays that are told apart; at most 7, see `_ALMOST_FULL`."""

KIND_WORDS = 3
"""Words of an array in a row: reads, writes, sum of read latencies."""

ENGINE_WORDS = 3
"""Words of an AE in a row: cycles waited for order, stall cycles of reads, and of writes."""

COUNT_BITS = 24
"""Of a packed count, in the lowest bits: accesses. The cycles that they waited for their bank are above."""

_COUNT = (1 << COUNT_BITS) - 1

_ALMOST_FULL = 1 << COUNT_BITS - 4 | -1 << 60
"""Bits of a packed count. While none is set, a sum over all arrays fits; and one access, which waits less than 2**39
cycles whatever the parameters of `hc2`, sets them rather than pass them over."""


@inlined
def _kind_of(recording: Recording, address: int) -> int:
    """Return the kind of the allocation at an address."""
    kind = recording.blocks[address >> recording.shift]
    return kind if kind != SEVERAL else _kind_among(recording, address)


@inlined
def record_waits(context: Context, request: Request, ae: int, bank: int, link: int) -> None:
    """Record a request that is served, and what it has waited for its bank and its link."""
    recording = context.recordings[context.engines]
    address = request.payload & context.address_mask
    word = address >> 3 & recording.word_mask
    place = recording.first_link + 2 * (ae * recording.links + recording.link_by_word[word])
    recording.link_rows[place] += 1
    recording.link_rows[place + 1] += link
    place = _kind_of(recording, address) * (recording.word_mask + 1) + word
    count = recording.counts[place] + (bank << COUNT_BITS) + 1
    if count & _ALMOST_FULL == 0:
        recording.counts[place] = count
    else:
        _record_apart(recording, place, bank)


@inlined
def record_response(context: Context, recording: Recording, request: Request, is_write: int, latency: int) -> None:
    """Record a request that is delivered, whose answer takes so long; a write's latency is 0."""
    kind = _kind_of(recording, request.payload & context.address_mask)
    place = recording.first_array + KIND_WORDS * kind
    recording.arrays[place + is_write] += 1
    if is_write == 0:
        recording.arrays[place + 2] += latency


@inlined
def record_order(recording: Recording, order: int) -> None:
    """Record what the responses of delivered requests have waited for others."""
    recording.engines[(recording.row & recording.last) * ENGINE_WORDS] += order


@apart
def _kind_among(recording: Recording, address: int) -> int:
    """Return the kind of the last allocation that begins at an address or before; there is one."""
    low, high = 0, recording.allocations - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if recording.starts[middle] <= address:
            low = middle
        else:
            high = middle - 1
    return recording.kinds[low]


@apart
def _record_apart(recording: Recording, place: int, bank: int) -> None:
    """Record an access for which a packed count has no room, and make room there."""
    words = recording.word_mask + 1
    counts, before, totals, more = recording.counts, recording.before, recording.totals, recording.more
    word = place & recording.word_mask
    since = -before[word]
    for kind in range(KINDS):
        since += counts[kind * words + word]
    count = counts[place]
    before[word] += since - count
    counts[place] = 0
    totals[2 * place] += (count & _COUNT) + 1
    totals[2 * place + 1] += (count >> COUNT_BITS) + bank
    row = recording.row & recording.last
    more[2 * (row * words + word)] += (since & _COUNT) + 1
    more[2 * (row * words + word) + 1] += (since >> COUNT_BITS) + bank
    recording.filled[row] |= 2


@inlined
def _go_on(context: Context, recording: Recording, cycle: int) -> int:
    """Go on to the interval of a cycle, and return its end."""
    recording.row = cycle // context.interval
    recording.end = (recording.row + 1) * context.interval
    row = recording.row & recording.last
    recording.first_array = row * KINDS * KIND_WORDS
    recording.first_link = row * context.engines * recording.links * 2
    return recording.end


@apart
def start_interval(context: Context, recording: Recording, cycle: int, order: int) -> int:
    """Complete an AE's present interval as `record_order` does, go on to that of a cycle, and return its end."""
    record_order(recording, order)
    return _go_on(context, recording, cycle)


@apart
def start_served_interval(context: Context, recording: Recording, cycle: int) -> None:
    """Complete the row of the present interval of what is served, and go on to that of a cycle."""
    words = recording.word_mask + 1
    row = recording.row & recording.last
    counts, before, since = recording.counts, recording.before, recording.since
    for word in range(words):
        now = 0
        for kind in range(KINDS):
            now += counts[kind * words + word]
        since[row * words + word] = now - before[word]
        before[word] = now
    recording.filled[row] |= 1
    _go_on(context, recording, cycle)


@apart
def record_stalls(context: Context, side: Side, reads: int, writes: int, cycle: int) -> None:
    """Record the masks of the ports that take no read, and no write, in a cycle."""
    recording = context.recordings[side.number]
    place = (cycle // context.interval & recording.last) * ENGINE_WORDS
    recording.engines[place + 1] += ones(reads)
    recording.engines[place + 2] += ones(writes)


@apart
def record_until(context: Context, cycle: int) -> None:
    """Complete all intervals that end before a cycle, when everything before it is delivered."""
    for ae in range(context.engines):
        recording = context.recordings[ae]
        if cycle >= recording.end:
            _go_on(context, recording, cycle)
    served = context.recordings[context.engines]
    if cycle >= served.end:
        start_served_interval(context, served, cycle)
    context.recorded = cycle
