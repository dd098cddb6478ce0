"""What the memory records over time, of each AE by itself (compiled).

All that is known of a request is there when it is delivered, so all of it is recorded then, in the interval in which it
was accepted. Requests of an AE are delivered in the order of their cycles. Only stalls belong to no request, and are
recorded as they are seen.
"""

from sim.memory.arrays import BLOCKS, SEVERAL, ArrayKind
from sim.memory.compiling import apart, inlined
from sim.memory.records import FLUSH, Batch, Context, Recording, Side

__all__ = [
    "COUNT_BITS",
    "ENGINE_WORDS",
    "KINDS",
    "KIND_WORDS",
    "LINK_BITS",
    "note_waits",
    "record_requests",
    "record_stalls",
    "record_until",
]

KINDS = len(ArrayKind)
"""Arrays that are told apart."""

KIND_WORDS = 4
"""Words of an array in a row: reads, writes, sum of read latencies, largest one."""

ENGINE_WORDS = 3
"""Words of an AE in a row: cycles waited for order, stall cycles of reads, and of writes."""

COUNT_BITS = 24
"""Of a packed count of accesses; the cycles that they waited are above."""

LINK_BITS = 24
"""Of a request's wait for its link, which is at most a full queue of each port; that for the bank is above."""

_COUNT = (1 << COUNT_BITS) - 1
_LINK = (1 << LINK_BITS) - 1

# Even together, the counts of four AEs do not overflow, and a batch does no harm.
_MOST_ACCESSES = 1 << COUNT_BITS - 3
_MOST_WAITED = 1 << 62 - COUNT_BITS - 3


@inlined
def note_waits(context: Context, ae: int, index: int, bank: int, link: int) -> None:
    """Keep what a request of the batch that is served has waited for its bank and its link."""
    waits = context.recordings[ae].waits
    waits[context.served * context.batch_depth + index] = bank << LINK_BITS | (link & _LINK)


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


@inlined
def _kind_of(recording: Recording, address: int) -> int:
    """Return the kind of what lies at an address, which may be any."""
    block = min(address >> recording.shift, BLOCKS)
    kind = (recording.blocks[block >> 3] >> ((block & 7) << 3)) & 255
    if kind == SEVERAL:
        kind = _kind_among(recording, address)
    return kind


@apart
def _close(recording: Recording) -> None:
    """Bring the banks' row of the present interval up to date."""
    words = recording.word_mask + 1
    counts, before, banks = recording.counts, recording.before, recording.banks
    row = (recording.row & recording.last) * 2 * words
    for word in range(words):
        now = 0
        for kind in range(KINDS):
            now += counts[kind * words + word]
        since = now - before[word]
        before[word] = now
        banks[row + word] += since & _COUNT
        banks[row + words + word] += since >> COUNT_BITS


@apart
def _move(recording: Recording) -> None:
    """Move the packed counts to the totals."""
    _close(recording)
    words = recording.word_mask + 1
    counts, totals = recording.counts, recording.totals
    for place in range(KINDS * words):
        packed = counts[place]
        counts[place] = 0
        totals[place] += packed & _COUNT
        totals[KINDS * words + place] += packed >> COUNT_BITS
    for word in range(words):
        recording.before[word] = 0
    recording.accesses = recording.waited = 0


@apart
def _advance(recording: Recording, interval: int, cycle: int) -> None:
    """Go on to the interval of a cycle."""
    _close(recording)
    recording.row = cycle // interval
    recording.end = (recording.row + 1) * interval


@apart
def record_requests(context: Context, side: Side, batch: Batch) -> None:
    """Record the requests of a batch that has been delivered.

    `time` of a read is now that of the response at its port, and its data the cycle in which that is seen.
    """
    recording = context.recordings[side.number]
    requests, waits = batch.requests, recording.waits
    counts, links, arrays, engines = recording.counts, recording.link_uses, recording.arrays, recording.engines
    address_mask, word_mask = context.address_mask, recording.word_mask
    first = context.delivered * context.batch_depth
    row, end = recording.row & recording.last, recording.end
    accesses = waited = order = 0
    for index in range(batch.count):
        request = requests[index]
        cycle = request.cycle()
        if cycle >= end:
            engines[row * ENGINE_WORDS] += order
            order = 0
            _advance(recording, context.interval, cycle)
            row, end = recording.row & recording.last, recording.end
        if request.when & FLUSH == 0:
            address = request.payload & address_mask
            wait = waits[first + index]
            kind = _kind_of(recording, address)
            counts[kind * (word_mask + 1) + (address >> 3 & word_mask)] += wait >> LINK_BITS << COUNT_BITS | 1
            link = 2 * (row * recording.links + context.rules.link_of(address))
            links[link] += 1
            links[link + 1] += wait & _LINK
            is_write = request.when & 1
            seen = request.data[0]
            array = (row * KINDS + kind) * KIND_WORDS
            # A write has no latency.
            latency = (seen - cycle) & (is_write - 1)
            arrays[array + is_write] += 1
            arrays[array + 2] += latency
            arrays[array + 3] = max(latency, arrays[array + 3])
            order += (seen - request.time) & (is_write - 1)
            waited += wait >> LINK_BITS
            accesses += 1
    engines[row * ENGINE_WORDS] += order
    recording.accesses += accesses
    recording.waited += waited
    if recording.accesses >= _MOST_ACCESSES or recording.waited >= _MOST_WAITED:
        _move(recording)


@inlined
def _ones(mask: int) -> int:
    """Return the number of bits of a mask that are set."""
    count = 0
    while mask != 0:
        mask &= mask - 1
        count += 1
    return count


@apart
def record_stalls(context: Context, side: Side, reads: int, writes: int, cycle: int) -> None:
    """Record the masks of the ports that take no read, and no write, in a cycle."""
    recording = context.recordings[side.number]
    place = (cycle // context.interval & recording.last) * ENGINE_WORDS
    recording.engines[place + 1] += _ones(reads)
    recording.engines[place + 2] += _ones(writes)


@apart
def record_until(context: Context, cycle: int) -> None:
    """Complete all intervals that end before a cycle, when everything before it is delivered."""
    for ae in range(context.engines):
        recording = context.recordings[ae]
        if cycle >= recording.end:
            _advance(recording, context.interval, cycle)
    context.recorded = cycle
