"""The memory's record over time (compiled), by the interval in which a request was accepted.

Waiting cycles for bank and link are recorded when a request is served, everything else when it is delivered; both
happen in the order of the requests' cycles. Stalls belong to no request: the AEs' counters of stalls are recorded at
the end of each interval. `Recorder` owns the arrays, and returns rows of completed intervals, and sums by bank and
array.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.memory.compiling import apart, inlined, jit, rarely
from cyscc.sim.memory.profiles.profile import Contention
from cyscc.sim.memory.records import HISTOGRAM_BINS, MAX_PORTS, Context, EngineRecord, Places, ServiceRecord
from cyscc.sim.memory.structures import Arena

BLOCKS = 4096
"""Most blocks of the address space."""

SEVERAL = 255
"""Table entry of a block with more than one allocation."""

_LEAST_SHIFT = 9


def kinds_by_block(
    allocations: Sequence[tuple[int, int]], kinds: Sequence[ArrayKind], top: int
) -> tuple[int, NDArray[np.uint8]]:
    """Return the kind of array in each block of addresses.

    Parameters
    ----------
    allocations : sequence of (int, int)
        Address and size in bytes of each allocation, in the order of addresses.
    kinds : sequence of ArrayKind
        Kind of array in each of them.
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
"""Number of array kinds; at most 7, see `_ALMOST_FULL`."""

KIND_WORDS = 3
"""Words of an array in a row: reads, writes, sum of read latencies."""

ENGINE_WORDS = 3
"""Words of an AE in a row: cycles waited for order, stall cycles of reads, and of writes."""

ACCESSES = 41
"""Lowest bit of the number of accesses in a packed count; the bits below are their waiting cycles for the bank."""

REQUESTS = 42
"""Lowest bit of the number of requests in a packed count of a link; the bits below are their waiting cycles.

An AE's ports send at most 2**21 requests in the longest interval. Each waits less than 2**21 cycles, even if every
port has its longest queue."""

CONSTANTS = {
    "KINDS": KINDS,
    "KIND_WORDS": KIND_WORDS,
    "ENGINE_WORDS": ENGINE_WORDS,
    "ACCESSES": ACCESSES,
    "REQUESTS": REQUESTS,
    "SEVERAL": SEVERAL,
}
"""Numbers of the record's layout by name."""

WAITED = (1 << ACCESSES) - 1
COUNT = (1 << 64 - ACCESSES) - 1

_ALMOST_FULL = 1 << ACCESSES - 3 | 1 << 61
"""Third-highest bit of each field of a packed count. While these are clear, a sum over all arrays fits, and one more
access sets no higher bit, since no bank can be booked 2**38 cycles ahead (half an hour of the machine)."""


@inlined
def kind_at(places: Places, address: int) -> int:
    """Return the kind of the array at an address."""
    kind = places.blocks[address >> places.shift]
    if rarely(kind == SEVERAL):
        kind = _kind_among(places, address)
    return kind


@apart
def _kind_among(places: Places, address: int) -> int:
    """Return the kind of the last allocation that begins at or before an address; there is one."""
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
    """Return the start of the current row of an AE's links: reads, followed by writes."""
    return ((record.row & record.last) * context.engines + ae) * 2 * record.links_of_engine


@inlined
def record_service(record: ServiceRecord, kind: int, word: int, bank: int, link: int, waited: int) -> None:
    """Record an access to a word, or to the index that the profile counts instead.

    It waited for its bank, and for the link whose index in the row is given.
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
    """Record an access that a packed count cannot hold, and flush that count."""
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
    """Advance to the interval of a cycle."""
    record.row = cycle // context.interval
    record.end = (record.row + 1) * context.interval


@apart
def start_service_row(context: Context, record: ServiceRecord, cycle: int) -> None:
    """Complete the current interval of banks, and advance to that of a cycle."""
    words = record.word_mask + 1
    row = record.row & record.last
    counts, before, since = record.counts, record.before, record.since
    # Words in the inner loops, so that they vectorize.
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
    """Return the start of the current row of arrays."""
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
    """Complete an AE's current interval of stalls, and advance to that of a cycle."""
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
    """Complete all intervals that end before a cycle; everything before it is delivered."""
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


_ROWS = 64
_SPAN = 8
"""Least capacity of the rings in quanta."""

_SETTINGS = ("interval", "next")

_REQUESTS = (1 << 64 - REQUESTS) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedIntervals:
    """Record of consecutive intervals, all of int64.

    An access, with all its waiting cycles, belongs to the interval in which it was accepted.

    Parameters
    ----------
    first : int
        Number of the first interval: that of cycle c is c // interval.
    banks : ndarray, shape (intervals, banks, 2)
        Accesses; their waiting cycles for the bank. Numbered as `banks` of the statistics.
    links : ndarray, shape (intervals, engines, links, 2)
        Requests; their waiting cycles for the link.
    arrays : ndarray, shape (intervals, engines, kinds, 3)
        By `ArrayKind`: reads; writes; sum of the reads' latencies from acceptance to response.
    engines : ndarray, shape (intervals, engines, 3)
        Cycles that responses waited for order; cycles in which a port was not ready for reads, summed over the ports;
        the same for writes.
    """

    first: int
    banks: NDArray[np.int64]
    links: NDArray[np.int64]
    arrays: NDArray[np.int64]
    engines: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedSums:
    """Sums since they were last taken, all of int64.

    Parameters
    ----------
    banks : ndarray, shape (found, 4)
        Bank, `ArrayKind`, accesses, and their waiting cycles for the bank; nonzero entries only.
    latencies : ndarray, shape (found, 2)
        Cycles from acceptance to response (2047 means 2047 or more), and number of reads; nonzero entries only.
    links : ndarray, shape (found, 4)
        AE, link, its reads and writes; nonzero entries only.
    openings : ndarray, shape (found, 2)
        Bank, and rows that it opened; nonzero entries only, for memories whose banks have rows.
    """

    banks: NDArray[np.int64]
    latencies: NDArray[np.int64]
    links: NDArray[np.int64]
    openings: NDArray[np.int64]


class Recorder:
    """Recorder of a memory: owns the arrays that compiled code fills.

    Parameters
    ----------
    interval : int
        Cycles of an interval.
    cycle : int
        The first cycle.
    engines : int
        Application Engines.
    quantum : int
        Most cycles between two sync points of the AEs.
    contention : Contention or None
        Links and banks, if any.
    stalls : ndarray, shape (engines, 2)
        Current counters of stalls of reads and of writes.

    Members
    -------
    interval : int
        As given.
    most : int
        Most intervals between two calls of `drain`.
    records : dict
        Records for compiled code, by field of the context.

    Raises
    ------
    ValueError
        The interval is not from 1 to 2**16.
    """

    def __init__(
        self,
        interval: int,
        *,
        cycle: int,
        engines: int,
        quantum: int,
        contention: Contention | None,
        stalls: NDArray[np.int64],
    ) -> None:
        if not 1 <= interval <= LONGEST_INTERVAL:
            raise ValueError(f"the interval of a record must be from 1 to {LONGEST_INTERVAL} cycles, not {interval!r}")
        self.interval = interval
        nothing = np.zeros(1, np.int64)
        self._bank_by_word = nothing
        if contention is not None:
            places = contention.bank_by_place
            self._bank_by_word = contention.bank_by_word if places is None else places
        self._bank_count = contention.banks if contention else 1
        self._link_count = contention.links if contention else 1
        words = self._bank_by_word.size
        # Without banks and links, everything is counted for a single one, and not returned.
        self._told = None if contention else 0
        rows = max(_ROWS, 1 << (_SPAN * quantum // interval).bit_length())
        self.most = rows // 2
        self._arena = Arena()
        self._places = self._arena.make(Places, 1)
        of_engines = self._of_engines = self._arena.make(EngineRecord, engines)
        of_service = self._of_service = self._arena.make(ServiceRecord, 1)
        self.records = {"places": self._places, "engine_records": of_engines, "service_record": of_service}
        for records in (of_engines, of_service):
            records["last"] = rows - 1
            records["row"] = cycle // interval
            records["end"] = (cycle // interval + 1) * interval
        of_engines["stall_row"], of_engines["stall_end"] = of_engines["row"], of_engines["end"]
        of_engines["stalls"] = stalls
        of_service["word_mask"], of_service["links_of_engine"] = words - 1, self._link_count
        self._settings = dict(zip(_SETTINGS, self._arena.make(int, len(_SETTINGS))[:, None], strict=True))
        self._settings["interval"][0], self._settings["next"][0] = interval, cycle // interval

        def make(owners: NDArray[np.void], field: str, *shape: int) -> NDArray[np.int64]:
            made = self._arena.link(owners, field, int, int(np.prod(shape)))
            return made.reshape(owners.size, *shape)

        self._arrays = make(of_engines, "arrays", rows, KINDS, KIND_WORDS)
        self._engines = make(of_engines, "engines", rows, ENGINE_WORDS)
        (self._counts,) = make(of_service, "counts", KINDS, words)
        make(of_service, "before", words)
        (self._totals,) = make(of_service, "totals", KINDS, words, 2)
        (self._since,) = make(of_service, "since", rows, words)
        (self._more,) = make(of_service, "more", rows, words, 2)
        (self._filled,) = make(of_service, "filled", rows)
        (self._links,) = make(of_service, "links", rows, engines, 2, self._link_count)
        self._taken = self._arena.make(int, KINDS * words * 2).reshape(KINDS, words, 2)
        self._latencies = self._arena.make(int, HISTOGRAM_BINS)
        # Requests by link in the rows drained since the last `take`, less those in undrained rows at that time.
        self._passed = self._arena.make(int, engines * 2 * self._link_count).reshape(engines, 2, self._link_count)
        self._opened = self._arena.make(int, self._bank_count)
        self._sums = np.zeros((self._bank_count, KINDS, 2), np.int64)
        self._found_banks = np.zeros((self._bank_count * KINDS, 4), np.int64)
        self._found_latencies = np.zeros((HISTOGRAM_BINS, 2), np.int64)
        self._found_links = np.zeros((engines * self._link_count, 4), np.int64)
        self._tables: dict[str, NDArray[Any]] = {}

    def know(self, allocations: Sequence[tuple[int, int]], kinds: Sequence[ArrayKind], top: int) -> None:
        """Set the allocations; they must be the same for a recorder that loads a state of this one.

        Parameters
        ----------
        allocations : sequence of (int, int)
            Address and size in bytes of each allocation, in the order of addresses.
        kinds : sequence of ArrayKind
            What each of them holds.
        top : int
            End of the last one.
        """
        shift, blocks = kinds_by_block(allocations, kinds, top)
        self._places["shift"], self._places["allocations"] = shift, len(allocations)
        linked = not self._tables
        self._tables = {
            "blocks": blocks,
            "starts": np.array([address for address, _ in allocations], np.int64),
            "kinds": np.array(kinds, np.int64),
        }
        for name, table in self._tables.items():
            if linked:
                self._arena.set_link(self._places, name, table.ctypes.data)
            self._places[name] = table.ctypes.data

    def drain(self, cycle: int) -> RecordedIntervals:
        """Return the intervals that end before a cycle, and free their rows.

        Raises
        ------
        ValueError
            More intervals have passed since the last call than the rings hold.
        """
        first, stop = int(self._settings["next"][0]), cycle // self.interval
        rows = self._filled.size
        if stop - first >= rows:
            raise ValueError(f"{stop - first} intervals were recorded, and there are places for {rows - 1}")
        places = np.arange(first, stop) % rows
        arrays, engines = (self._emptied(ring.swapaxes(0, 1), places) for ring in (self._arrays, self._engines))
        packed = self._emptied(self._links, places).view(np.uint64)
        links = np.stack([packed >> REQUESTS, packed & (1 << REQUESTS) - 1], axis=-1).view(np.int64)
        self._passed += links[..., 0].sum(axis=0)
        links = links.sum(axis=2)
        banks = np.zeros((places.size, self._bank_count, 2), np.int64)
        _empty_words(self._since, self._more, self._filled, places, self._bank_by_word, banks)
        self._settings["next"][0] = max(first, stop)
        return RecordedIntervals(
            first=first,
            banks=banks[:, : self._told],
            links=links[:, :, : self._told],
            arrays=arrays,
            engines=engines,
        )

    def take(self, histograms: NDArray[np.int64], openings: NDArray[np.int64] | None) -> RecordedSums:
        """Return the sums since the last call.

        Parameters
        ----------
        histograms : ndarray, shape (engines, 2048)
            Reads by latency.
        openings : ndarray, shape (banks,), or None
            Rows that each bank has opened; None where banks have no rows.
        """
        words = (self._counts, self._totals, self._taken, self._bank_by_word)
        banks = _take_words(*words, self._sums, self._found_banks)
        latencies = _take_latencies(histograms, self._latencies, self._found_latencies)
        span = int(self._settings["next"][0]), int(self._of_service["row"][0])
        links = _take_links(self._links, *span, self._passed, self._found_links)
        opened = np.zeros((0, 2), np.int64)
        if openings is not None:
            counts = openings - self._opened
            (found,) = np.nonzero(counts)
            opened = np.stack([found, counts[found]], axis=1)
            self._opened[:] = openings
        return RecordedSums(
            banks=self._found_banks[: banks if self._told is None else 0].copy(),
            latencies=self._found_latencies[:latencies].copy(),
            links=self._found_links[: links if self._told is None else 0].copy(),
            openings=opened,
        )

    def reset(
        self, histograms: NDArray[np.int64], stalls: NDArray[np.int64], openings: NDArray[np.int64] | None
    ) -> None:
        """Continue counting across a reset of the AEs' latency histograms, stalls and row openings.

        Parameters
        ----------
        histograms : ndarray, shape (engines, 2048)
            Reads by latency.
        stalls : ndarray, shape (engines, 2)
            Stalls of reads, and of writes.
        openings : ndarray, shape (banks,), or None
            Rows that each bank has opened; None where banks have no rows.
        """
        if openings is not None:
            self._opened -= openings
        self._latencies -= histograms.sum(axis=0)
        self._of_engines["stalls"] -= stalls

    def save(self) -> list[NDArray[np.uint64]]:
        """Return a copy of the state."""
        return self._arena.save()

    def load(self, copies: Sequence[NDArray[np.uint64]]) -> None:
        """Load a copy of a state.

        Raises
        ------
        ValueError
            It is of other sizes or of another interval, or not of a record.
        """
        if not copies:
            raise ValueError("the memory's state has no record to go on with")
        before = self.save()
        self._arena.load(copies)
        interval = int(self._settings["interval"][0])
        if interval != self.interval:
            self._arena.load(before)
            raise ValueError(f"the memory's record has intervals of {interval} cycles, not {self.interval}")

    def check(self, cycle: int) -> None:
        """Refuse a loaded state whose intervals are not those before a cycle.

        Raises
        ------
        ValueError
            A number of an interval is impossible.
        """
        number = cycle // self.interval
        rows = [self._of_engines["row"], self._of_engines["stall_row"], self._of_service["row"]]
        following = int(self._settings["next"][0])
        known = all(np.all((row >= 0) & (row <= number)) for row in rows)
        if not known or following != number:
            raise ValueError("the intervals of the memory's record are impossible")

    @staticmethod
    def _emptied(ring: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows of a ring, and clear them."""
        rows = ring[places]
        ring[places] = 0
        return rows


@jit
def _empty_words(since, more, filled, places, bank_by_word, banks):  # type: ignore[no-untyped-def]
    """Add the rings' counts by word to their banks, and clear them."""
    for index in range(places.size):
        place = places[index]
        some, rest = filled[place] & 1, filled[place] & 2
        for word in range(since.shape[1] if some | rest else 0):
            packed = since[place, word] if some else 0
            accesses, waited = packed >> ACCESSES & COUNT, packed & WAITED
            if rest:
                accesses += more[place, word, 0]
                waited += more[place, word, 1]
            banks[index, bank_by_word[word], 0] += accesses
            banks[index, bank_by_word[word], 1] += waited
        if rest:
            more[place] = 0
        filled[place] = 0


@jit
def _take_words(counts, totals, taken, bank_by_word, banks, found):  # type: ignore[no-untyped-def]
    """List the counts since the last call by bank and kind; the sums by bank are 0 before and afterwards."""
    for kind in range(counts.shape[0]):
        for word in range(counts.shape[1]):
            accesses = totals[kind, word, 0] + (counts[kind, word] >> ACCESSES)
            waited = totals[kind, word, 1] + (counts[kind, word] & WAITED)
            if accesses != taken[kind, word, 0] or waited != taken[kind, word, 1]:
                banks[bank_by_word[word], kind, 0] += accesses - taken[kind, word, 0]
                banks[bank_by_word[word], kind, 1] += waited - taken[kind, word, 1]
                taken[kind, word, 0] = accesses
                taken[kind, word, 1] = waited
    places = 0
    for bank in range(banks.shape[0]):
        for kind in range(counts.shape[0]):
            if banks[bank, kind, 0] != 0 or banks[bank, kind, 1] != 0:
                found[places] = bank, kind, banks[bank, kind, 0], banks[bank, kind, 1]
                banks[bank, kind] = 0
                places += 1
    return places


@jit
def _take_latencies(histograms, taken, found):  # type: ignore[no-untyped-def]
    """List the counts since the last call by latency."""
    places = 0
    for latency in range(taken.size):
        reads = 0
        for side in range(histograms.shape[0]):
            reads += histograms[side, latency]
        if reads != taken[latency]:
            found[places] = latency, reads - taken[latency]
            taken[latency] = reads
            places += 1
    return places


@jit
def _take_links(links, first, last, passed, found):  # type: ignore[no-untyped-def]
    """List the counts since the last call by AE and link, including undrained intervals."""
    rows, places = links.shape[0], 0
    for ae in range(links.shape[1]):
        for link in range(links.shape[3]):
            reads, writes = 0, 0
            for number in range(first, last + 1):
                reads += links[number & (rows - 1), ae, 0, link] >> REQUESTS & _REQUESTS
                writes += links[number & (rows - 1), ae, 1, link] >> REQUESTS & _REQUESTS
            taken = reads + passed[ae, 0, link], writes + passed[ae, 1, link]
            passed[ae, 0, link], passed[ae, 1, link] = -reads, -writes
            if taken[0] + taken[1] != 0:
                found[places] = ae, link, taken[0], taken[1]
                places += 1
    return places
