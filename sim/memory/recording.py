"""The memory's record over time (compiled), by the interval in which a request was accepted.

Waiting cycles for bank and link are recorded when a request is served, everything else when it is delivered; both
happen in the order of the requests' cycles. Stalls belong to no request: the AEs' counters of stalls are recorded at
the end of each interval. `Recorder` owns the arrays, and returns rows of completed intervals, and sums by bank and
array.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.arrays import ArrayKind
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.memory.profiles.profile import Contention
from cyscc.sim.memory.records import HISTOGRAM_BINS, EngineRecord, Places, ServiceRecord
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

_ROWS = 256
_SPAN = 8
"""Least capacity of the rings in quanta."""

_SETTINGS = ("interval", "next")


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
    call : callable
        Calls a function of the memory's library by name, with words.

    Members
    -------
    interval : int
        As given.
    links : int
        Links of an AE in the record.
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
        call: Callable[..., int],
    ) -> None:
        if not 1 <= interval <= LONGEST_INTERVAL:
            raise ValueError(f"the interval of a record must be from 1 to {LONGEST_INTERVAL} cycles, not {interval!r}")
        self.interval = interval
        self._call = call
        nothing = np.zeros(1, np.int64)
        self._bank_by_word = nothing
        if contention is not None:
            places = contention.bank_by_place
            self._bank_by_word = np.ascontiguousarray(contention.bank_by_word if places is None else places)
        self._bank_count = contention.banks if contention else 1
        self.links = contention.links if contention else 1
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
        of_engines["port_row"], of_engines["port_end"] = of_engines["row"], of_engines["end"]
        of_engines["stalls"] = stalls
        of_service["word_mask"] = words - 1
        self._settings = dict(zip(_SETTINGS, self._arena.make(int, len(_SETTINGS))[:, None], strict=True))
        self._settings["interval"][0], self._settings["next"][0] = interval, cycle // interval

        def make(owners: NDArray[np.void], field: str, *shape: int) -> NDArray[np.int64]:
            made = self._arena.link(owners, field, int, int(np.prod(shape)))
            return made.reshape(owners.size, *shape)

        self._arrays = make(of_engines, "arrays", rows, KINDS, KIND_WORDS)
        self._engines = make(of_engines, "engines", rows, ENGINE_WORDS)
        self._links = make(of_engines, "links", rows, self.links, 2)
        self._requests = make(of_engines, "requests", self.links, 2)
        (self._counts,) = make(of_service, "counts", KINDS, words)
        make(of_service, "before", words)
        (self._totals,) = make(of_service, "totals", KINDS, words, 2)
        (self._since,) = make(of_service, "since", rows, words)
        (self._more,) = make(of_service, "more", rows, words, 2)
        (self._filled,) = make(of_service, "filled", rows)
        self._taken = self._arena.make(int, KINDS * words * 2).reshape(KINDS, words, 2)
        self._latencies = self._arena.make(int, HISTOGRAM_BINS)
        self._taken_requests = self._arena.make(int, engines * self.links * 2).reshape(engines, self.links, 2)
        self._opened = self._arena.make(int, self._bank_count)
        self._sums = np.zeros((self._bank_count, KINDS, 2), np.int64)
        self._found_banks = np.zeros((self._bank_count * KINDS, 4), np.int64)
        self._found_latencies = np.zeros((HISTOGRAM_BINS, 2), np.int64)
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
        rings = self._arrays, self._engines, self._links
        arrays, engines, packed = (self._emptied(ring.swapaxes(0, 1), places) for ring in rings)
        packed = packed.view(np.uint64)
        links = np.stack([packed >> REQUESTS, packed & (1 << REQUESTS) - 1], axis=-1).view(np.int64)
        links = links.sum(axis=3)
        banks = np.zeros((places.size, self._bank_count, 2), np.int64)
        of_row = 2 * self._bank_count
        self._call("drain_banks", first, stop, self._bank_by_word.ctypes.data, banks.ctypes.data, of_row)
        self._settings["next"][0] = max(first, stop)
        return RecordedIntervals(
            first=first,
            banks=banks[:, : self._told],
            links=links[:, :, : self._told],
            arrays=arrays,
            engines=engines,
        )

    def take(self, openings: NDArray[np.int64] | None) -> RecordedSums:
        """Return the sums since the last call.

        Parameters
        ----------
        openings : ndarray, shape (banks,), or None
            Rows that each bank has opened; None where banks have no rows.
        """
        taken, of, sums = self._taken.ctypes.data, self._bank_by_word.ctypes.data, self._sums.ctypes.data
        banks = self._call("take_banks", taken, of, sums, self._bank_count, self._found_banks.ctypes.data)
        latencies = self._call("take_latencies", self._latencies.ctypes.data, self._found_latencies.ctypes.data)
        links = self._requests_since() if self._told is None else np.zeros((0, 4), np.int64)
        opened = np.zeros((0, 2), np.int64)
        if openings is not None:
            counts = openings - self._opened
            (found,) = np.nonzero(counts)
            opened = np.stack([found, counts[found]], axis=1)
            self._opened[:] = openings
        return RecordedSums(
            banks=self._found_banks[: banks if self._told is None else 0].copy(),
            latencies=self._found_latencies[:latencies].copy(),
            links=links,
            openings=opened,
        )

    def _requests_since(self) -> NDArray[np.int64]:
        """Return the links with requests since the last call: AE, link, reads and writes."""
        engines = np.arange(self._links.shape[0])
        now = self._links[engines, self._of_engines["port_row"] & self._of_engines["last"]].view(np.uint64) >> REQUESTS
        requests = self._requests + now.view(np.int64)
        counts = requests - self._taken_requests
        self._taken_requests[:] = requests
        engine, link = np.nonzero(counts.any(axis=2))
        return np.column_stack([engine, link, counts[engine, link]])

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
        rows = [self._of_engines["row"], self._of_engines["port_row"], self._of_service["row"]]
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
