"""What the memory records over time, of each AE by itself (compiled).

All that is known of a request is there when it is delivered, so all of it is recorded then, in the interval in which it
was accepted. Requests of an AE are delivered in the order of their cycles. Only stalls belong to no request, and are
recorded as they are seen.
"""

from sim.arrays import ArrayKind
from sim.memory.blocks import SEVERAL
from sim.memory.compiling import apart, inlined, ones
from sim.memory.records import Batch, Context, Recording, Side

__all__ = [
    "BANK_BITS",
    "ENGINE_WORDS",
    "KINDS",
    "KIND_WORDS",
    "LINK_BITS",
    "RUN",
    "end_run",
    "note_waits",
    "record_access",
    "record_stalls",
    "record_until",
    "start_interval",
]

KINDS = len(ArrayKind)
"""Arrays that are told apart; at most 7, see `_ALMOST_FULL`."""

KIND_WORDS = 3
"""Words of an array in a row: reads, writes, sum of read latencies."""

ENGINE_WORDS = 3
"""Words of an AE in a row: cycles waited for order, stall cycles of reads, and of writes."""

LINK_BITS = 24
"""Of a packed count, in the lowest bits: the cycles that accesses waited for their link."""

BANK_BITS = 28
"""Of a packed count, above: the cycles that they waited for their bank. The accesses are in the 12 bits above."""

RUN = 4095
"""Most requests recorded between two calls of `end_run`."""

_ONE = 1 << LINK_BITS + BANK_BITS
_COUNT = (1 << 12) - 1
_LINK = (1 << LINK_BITS) - 1
_BANK = (1 << BANK_BITS) - 1

_ALMOST_FULL = 1 << LINK_BITS - 3 | 1 << LINK_BITS + BANK_BITS - 3 | 1 << 61
"""The highest bits but two of a packed count's three fields: as long as none is set, a sum over all arrays fits."""

_LONG = 20
"""Bits of the cycles that an access may take to be counted in packed words: fewer than each of their fields has."""

_WRITE = 16
_LATENCY = 32
"""Lowest bits of the writes, and of the reads' latencies, in the packed sum of an array; the reads are below."""

_TALLY = (1 << _WRITE) - 1


@inlined
def note_waits(batch: Batch, index: int, bank: int, link: int) -> None:
    """Keep what a request of a batch has waited for its bank and its link."""
    batch.waits[2 * index] = bank
    batch.waits[2 * index + 1] = link


@inlined
def record_access(
    context: Context, recording: Recording, batch: Batch, index: int, is_write: int, taken: int, latency: int
) -> None:
    """Record an access of the present interval, which took `taken` cycles; as a read's latency count `latency`."""
    address = batch.requests[index].payload & context.address_mask
    kind = recording.blocks[address >> recording.shift]
    if kind == SEVERAL:
        kind = _kind_among(recording, address)
    place = kind * (recording.word_mask + 1) + (address >> 3 & recording.word_mask)
    bank, link = batch.waits[2 * index], batch.waits[2 * index + 1]
    count = recording.counts[place] + (bank << LINK_BITS) + link + _ONE
    if (count & _ALMOST_FULL) | taken >> _LONG == 0:
        recording.counts[place] = count
        recording.sums[kind] += latency << _LATENCY | 1 << is_write * _WRITE
    else:
        _record_apart(recording, place, bank, link, is_write, latency)


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
def _record_apart(recording: Recording, place: int, bank: int, link: int, is_write: int, latency: int) -> None:
    """Record an access for which a packed count has no room, and make room there."""
    words = recording.word_mask + 1
    counts, before, totals = recording.counts, recording.before, recording.totals
    kind, word = place // words, place & recording.word_mask
    since = -before[word]
    for each in range(KINDS):
        since += counts[each * words + word]
    count = counts[place]
    before[word] += since - count
    counts[place] = 0
    totals[2 * place] += (count >> LINK_BITS + BANK_BITS) + 1
    totals[2 * place + 1] += (count >> LINK_BITS & _BANK) + bank
    row = recording.row & recording.last
    more = 3 * (row * words + word)
    recording.more[more] += (since >> LINK_BITS + BANK_BITS & _COUNT) + 1
    recording.more[more + 1] += (since >> LINK_BITS & _BANK) + bank
    recording.more[more + 2] += (since & _LINK) + link
    recording.filled[row] |= 2
    array = (row * KINDS + kind) * KIND_WORDS
    recording.arrays[array + is_write] += 1
    recording.arrays[array + 2] += latency


@apart
def end_run(recording: Recording, order: int) -> None:
    """Add sums of requests, and the cycles that their responses waited for others, to the present interval."""
    row = recording.row & recording.last
    recording.engines[row * ENGINE_WORDS] += order
    arrays, sums = recording.arrays, recording.sums
    for kind in range(KINDS):
        array, total = (row * KINDS + kind) * KIND_WORDS, sums[kind]
        arrays[array] += total & _TALLY
        arrays[array + 1] += total >> _WRITE & _TALLY
        arrays[array + 2] += total >> _LATENCY
        sums[kind] = 0


@apart
def start_interval(context: Context, recording: Recording, cycle: int, order: int) -> int:
    """Complete the present interval as `end_run` does, go on to that of a cycle, and return its end."""
    end_run(recording, order)
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
    recording.row = cycle // context.interval
    recording.end = (recording.row + 1) * context.interval
    return recording.end


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
            start_interval(context, recording, cycle, 0)
    context.recorded = cycle
