"""What the memory records over time, of each AE by itself (compiled).

All that is known of a request is there when it is delivered, so all of it is recorded then, in the interval in which it
was accepted. Requests of an AE are delivered in the order of their cycles. Only stalls belong to no request, and are
recorded as they are seen.
"""

from sim.arrays import ArrayKind
from sim.memory.blocks import SEVERAL
from sim.memory.compiling import apart, inlined
from sim.memory.records import FLUSH, READ, Batch, Context, Recording, Side

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

COUNT_BITS = 22
"""Of a packed count of accesses, more than a link takes between two drains; the cycles that they waited are above."""

LINK_BITS = 22
"""Of a request's wait for its link, which is at most a full queue of each port; that for the bank is above."""

_COUNT = (1 << COUNT_BITS) - 1
_LINK = (1 << LINK_BITS) - 1


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


@apart
def _advance(recording: Recording, interval: int, cycle: int) -> None:
    """Make the banks' row of the present interval, and go on to the interval of a cycle."""
    words = recording.word_mask + 1
    counts, before, banks = recording.counts, recording.before, recording.banks
    row = (recording.row & recording.last) * 2 * words
    for word in range(words):
        now = 0
        for kind in range(KINDS):
            now += counts[kind * words + word]
        since = now - before[word]
        before[word] = now
        banks[row + word] = since & _COUNT
        banks[row + words + word] = since >> COUNT_BITS
    recording.row = cycle // interval
    recording.end = (recording.row + 1) * interval


@apart
def _add_sums(recording: Recording, order: int) -> None:
    """Add what is summed up of some requests to the rows of the present interval."""
    row = recording.row & recording.last
    recording.engines[row * ENGINE_WORDS] += order
    arrays, sums, most = recording.arrays, recording.sums, recording.most
    for kind in range(KINDS):
        array = (row * KINDS + kind) * KIND_WORDS
        reads = sums[2 * kind]
        arrays[array] += reads & _COUNT
        arrays[array + 1] += sums[2 * kind + 1] & _COUNT
        arrays[array + 2] += reads >> COUNT_BITS
        arrays[array + 3] = max(arrays[array + 3], most[kind])
        sums[2 * kind] = sums[2 * kind + 1] = most[kind] = 0


@apart
def _order_wait(batch: Batch, index: int, end: int) -> int:
    """Return the cycles that some responses of a batch wait for those before them."""
    order = 0
    while index < end:
        request = batch.requests[index]
        if request.kind() == READ:
            order += request.data[0] - request.time
        index += 1
    return order


@apart
def record_requests(context: Context, side: Side, batch: Batch, order_wait: int) -> None:
    """Record the requests of a batch that has been delivered, whose responses wait `order_wait` cycles for others.

    `time` of a read is now that of the response at its port, and its data the cycle in which that is seen.
    """
    recording = context.recordings[side.number]
    requests, waits, most, link_by_word = batch.requests, recording.waits, recording.most, recording.link_by_word
    counts, links, sums = recording.counts, recording.link_waits, recording.sums
    address_mask, word_mask = context.address_mask, recording.word_mask
    first = context.delivered * context.batch_depth
    first_link = (recording.row & recording.last) * recording.links
    end = recording.end << 16
    added = 0
    for index in range(batch.count):
        request = requests[index]
        when, address, seen = request.when, request.payload & address_mask, request.data[0]
        wait = waits[first + index]
        if when >= end:
            _add_sums(recording, _order_wait(batch, added, index))
            added = index
            _advance(recording, context.interval, when >> 16)
            first_link = (recording.row & recording.last) * recording.links
            end = recording.end << 16
        if when & FLUSH == 0:
            kind = recording.blocks[address >> recording.shift]
            if kind == SEVERAL:
                kind = _kind_among(recording, address)
            word = (address >> 3) & word_mask
            counts[kind * (word_mask + 1) + word] += wait >> LINK_BITS << COUNT_BITS | 1
            links[first_link + link_by_word[word]] += wait & _LINK
            # A write has no latency.
            is_write = when & 1
            latency = (seen - (when >> 16)) & (is_write - 1)
            sums[2 * kind + is_write] += latency << COUNT_BITS | 1
            if latency > most[kind]:
                most[kind] = latency
    _add_sums(recording, order_wait if added == 0 else _order_wait(batch, added, batch.count))


@apart
def record_stalls(context: Context, side: Side, reads: int, writes: int, cycle: int) -> None:
    """Record the masks of the ports that take no read, and no write, in a cycle."""
    recording = context.recordings[side.number]
    place = (cycle // context.interval & recording.last) * ENGINE_WORDS
    while reads != 0:
        reads &= reads - 1
        recording.engines[place + 1] += 1
    while writes != 0:
        writes &= writes - 1
        recording.engines[place + 2] += 1


@apart
def record_until(context: Context, cycle: int) -> None:
    """Complete all intervals that end before a cycle, when everything before it is delivered."""
    for ae in range(context.engines):
        recording = context.recordings[ae]
        if cycle >= recording.end:
            _advance(recording, context.interval, cycle)
    context.recorded = cycle
