"""What the memory records over time (compiled), in the interval in which a request was accepted.

What a request waited for its bank and its link is recorded when it is served, what else there is of it when it is
delivered: both happen in the order of the requests' cycles. Stalls belong to no request:
what the AEs count of them is recorded when an interval ends.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sim.arrays import ArrayKind
from sim.memory.compiling import apart, inlined, rarely
from sim.memory.records import MAX_PORTS, Context, EngineRecord, Places, ServiceRecord

__all__ = [
    "ACCESSES",
    "COUNT",
    "ENGINE_WORDS",
    "KINDS",
    "KIND_WORDS",
    "REQUESTS",
    "WAITED",
    "kind_at",
    "kinds_by_block",
    "record_read",
    "record_service",
    "record_until",
    "record_write",
    "row_of_arrays",
    "row_of_links",
    "start_row",
    "start_service_row",
    "start_stall_row",
]

BLOCKS = 4096
"""Most blocks that addresses are divided into."""

SEVERAL = 255
"""What the table says of a block with more than one allocation in it."""

_LEAST_SHIFT = 9


def kinds_by_block(
    allocations: Sequence[tuple[int, int]], kinds: Sequence[ArrayKind], top: int
) -> tuple[int, NDArray[np.uint8]]:
    """Return what each block of the addresses holds.

    Parameters
    ----------
    allocations : sequence of (int, int)
        Address and size in bytes of each allocation, in the order of addresses.
    kinds : sequence of ArrayKind
        What each of them holds.
    top : int
        End of the last one.

    Returns
    -------
    shift : int
        A block has 2**shift bytes.
    table : ndarray of uint8, shape (BLOCKS,)
        The `ArrayKind` of each block, or `SEVERAL`.
    """
    shift = max((top - 1).bit_length() - (BLOCKS - 1).bit_length(), _LEAST_SHIFT)
    table = np.full(BLOCKS, ArrayKind.OTHER, np.uint8)
    used = -1  # the last block in use
    for (address, size), kind in zip(allocations, kinds, strict=True):
        first, last = address >> shift, (address + size - 1) >> shift
        table[max(first, used + 1) : last + 1] = kind
        if first == used:
            table[first] = SEVERAL
        used = last
    return shift, table


KINDS = len(ArrayKind)
"""Arrays that are told apart; at most 7, see `_ALMOST_FULL`."""

KIND_WORDS = 3
"""Words of an array in a row: reads, writes, sum of read latencies."""

ENGINE_WORDS = 3
"""Words of an AE in a row: cycles waited for order, stall cycles of reads, and of writes."""

ACCESSES = 41
"""Lowest bit of the accesses in a packed count; below are the cycles that they waited for their bank."""

REQUESTS = 42
"""Lowest bit of the requests in a packed count of a link; below are the cycles that they waited for it.

An AE's ports send 2**21 requests in the longest interval, of which each waits less than 2**21 cycles, when every port
has its longest queue."""

WAITED = (1 << ACCESSES) - 1
COUNT = (1 << 64 - ACCESSES) - 1

_ALMOST_FULL = 1 << ACCESSES - 3 | 1 << 61
"""The highest bits but two of a packed count's fields: as long as none is set, a sum over all arrays fits, and one more
access sets no higher ones, since no bank can be booked 2**38 cycles ahead (half an hour of the machine)."""


@inlined
def kind_at(places: Places, address: int) -> int:
    """Return the kind of the array at an address."""
    kind = places.blocks[address >> places.shift]
    if rarely(kind == SEVERAL):
        kind = _kind_among(places, address)
    return kind


@apart
def _kind_among(places: Places, address: int) -> int:
    """Return the kind of the last allocation that begins at an address or before; there is one."""
    low, high = 0, places.allocations - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if places.starts[middle] <= address:
            low = middle
        else:
            high = middle - 1
    return places.kinds[low]


@inlined
def row_of_links(context: Context, record: ServiceRecord, ae: int) -> int:
    """Return where the present row of an AE's links begins: those of its reads, before those of its writes."""
    return ((record.row & record.last) * context.engines + ae) * 2 * record.links_of_engine


@inlined
def record_service(record: ServiceRecord, kind: int, word: int, bank: int, link: int, waited: int) -> None:
    """Record an access to a word, or what the profile tells apart in its place.

    It waited so many cycles for its bank, and for the link whose place in the row is given.
    """
    place = kind * (record.word_mask + 1) + word
    count = record.counts[place] + bank + (1 << ACCESSES)
    if rarely(count & _ALMOST_FULL != 0):
        _record_apart(record, place, bank)
    else:
        record.counts[place] = count
    record.links[link] += (1 << REQUESTS) + waited


@apart
def _record_apart(record: ServiceRecord, place: int, bank: int) -> None:
    """Record an access for which a packed count has no room, and make room there."""
    words, word = record.word_mask + 1, place & record.word_mask
    counts, before, totals, more = record.counts, record.before, record.totals, record.more
    since = -before[word]
    for kind in range(KINDS):
        since += counts[kind * words + word]
    count = counts[place]
    before[word] += since - count
    counts[place] = 0
    totals[2 * place] += (count >> ACCESSES) + 1
    totals[2 * place + 1] += (count & WAITED) + bank
    row = record.row & record.last
    more[2 * (row * words + word)] += (since >> ACCESSES & COUNT) + 1
    more[2 * (row * words + word) + 1] += (since & WAITED) + bank
    record.filled[row] |= 2


@inlined
def start_row(context: Context, record: EngineRecord | ServiceRecord, cycle: int) -> None:
    """Go on to the interval of a cycle."""
    record.row = cycle // context.interval
    record.end = (record.row + 1) * context.interval


@apart
def start_service_row(context: Context, record: ServiceRecord, cycle: int) -> None:
    """Complete the present interval of banks, and go on to that of a cycle."""
    words = record.word_mask + 1
    row = record.row & record.last
    counts, before, since = record.counts, record.before, record.since
    # Words in the inner loops, which processors do several of at once.
    for word in range(words):
        since[row * words + word] = -before[word]
    for kind in range(KINDS):
        for word in range(words):
            since[row * words + word] += counts[kind * words + word]
    for word in range(words):
        before[word] += since[row * words + word]
    record.filled[row] |= 1
    start_row(context, record, cycle)


@inlined
def row_of_arrays(record: EngineRecord) -> int:
    """Return where the present row of arrays begins."""
    return (record.row & record.last) * KINDS * KIND_WORDS


@inlined
def record_read(record: EngineRecord, row: int, kind: int, latency: int) -> None:
    """Record a read of an array in a row."""
    record.arrays[row + kind * KIND_WORDS] += 1
    record.arrays[row + kind * KIND_WORDS + 2] += latency


@inlined
def record_write(record: EngineRecord, row: int, kind: int) -> None:
    """Record a write of an array in a row."""
    record.arrays[row + kind * KIND_WORDS + 1] += 1


@apart
def start_stall_row(context: Context, ae: int, cycle: int) -> None:
    """Complete an AE's interval of the stalls that it has counted so far, and go on to that of a cycle."""
    side, record = context.sides[ae], context.engine_records[ae]
    place = (record.stall_row & record.last) * ENGINE_WORDS + 1
    for kind in range(2):
        stalls = 0
        for port in range(side.width):
            stalls += side.stalls[kind * MAX_PORTS + port]
        record.engines[place + kind] += stalls - record.stalls[kind]
        record.stalls[kind] = stalls
    record.stall_row = cycle // context.interval
    record.stall_end = (record.stall_row + 1) * context.interval


@apart
def record_until(context: Context, cycle: int) -> None:
    """Complete all intervals that end before a cycle, when everything before it is delivered."""
    service = context.service_record[0]
    if cycle >= service.end:
        start_service_row(context, service, cycle)
    for ae in range(context.engines):
        record = context.engine_records[ae]
        if cycle >= record.end:
            start_row(context, record, cycle)
        if cycle >= record.stall_end:
            start_stall_row(context, ae, cycle)
    context.recorded = cycle
