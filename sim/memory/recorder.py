"""What the memory has recorded, as arrays: rows of the intervals that are over, and sums by bank and array."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arrays import ArrayKind
from sim.memory.compiling import jit
from sim.memory.profiles.profile import Contention
from sim.memory.recording import ACCESSES, COUNT, ENGINE_WORDS, KIND_WORDS, KINDS, REQUESTS, WAITED, kinds_by_block
from sim.memory.records import HISTOGRAM_BINS, EngineRecord, Places, ServiceRecord
from sim.memory.structures import Room

__all__ = ["LONGEST_INTERVAL", "RecordedIntervals", "RecordedSums", "Recorder"]

LONGEST_INTERVAL = 1 << 16
"""Most cycles of an interval."""

_ROWS = 64
_SPAN = 8
"""The rings have places for at least so many quanta."""

_SETTINGS = ("interval", "next")

_REQUESTS = (1 << 64 - REQUESTS) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedIntervals:
    """What happened in some intervals, all of int64.

    An access belongs to the interval in which its port handed it over, with all that it waited for, whenever that was.

    Parameters
    ----------
    first : int
        Number of the first interval: that of cycle c is c // interval.
    banks : ndarray, shape (intervals, banks, 2)
        Accesses; cycles that they waited for the bank. Numbered as `banks` of the statistics.
    links : ndarray, shape (intervals, engines, links, 2)
        Requests; cycles that they waited until they entered the link.
    arrays : ndarray, shape (intervals, engines, kinds, 3)
        By `ArrayKind`: reads; writes; sum of the reads' latencies from acceptance to response.
    engines : ndarray, shape (intervals, engines, 3)
        Cycles that responses waited for those before them; cycles in which a port took no read, summed over the ports;
        the same of writes.
    """

    first: int
    banks: NDArray[np.int64]
    links: NDArray[np.int64]
    arrays: NDArray[np.int64]
    engines: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedSums:
    """What happened since this was last taken, all of int64.

    Parameters
    ----------
    banks : ndarray, shape (found, 4)
        Bank, `ArrayKind`, accesses, and cycles that they waited for the bank, in this order, where there were any.
    latencies : ndarray, shape (found, 2)
        Cycles from acceptance to response, up to 2047, which is open above, and reads that took so long, where any did.
    links : ndarray, shape (found, 4)
        AE, link, reads and writes that it took, where there were any.
    openings : ndarray, shape (found, 2)
        Bank, and rows that it opened, where there were any; of memories whose banks have rows.
    """

    banks: NDArray[np.int64]
    latencies: NDArray[np.int64]
    links: NDArray[np.int64]
    openings: NDArray[np.int64]


class Recorder:
    """The record of a memory, and the arrays that compiled code fills.

    Parameters
    ----------
    interval : int
        Cycles of an interval.
    cycle : int
        The first cycle.
    engines : int
        Application Engines.
    quantum : int
        Most cycles between two meetings of the AEs.
    contention : Contention or None
        Links and banks; None where there are none.
    stalls : ndarray, shape (engines, 2)
        Stalls of reads, and of writes, so far.

    Members
    -------
    interval : int
        As given.
    most : int
        Most intervals between two calls of `drain`.
    records : dict
        What compiled code is given, by its name in the context.

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
        # Where there are no banks and links, all is counted for one, and not returned.
        self._told = None if contention else 0
        rows = max(_ROWS, 1 << (_SPAN * quantum // interval).bit_length())
        self.most = rows // 2
        self._room = Room()
        self._places = self._room.make(Places, 1)
        of_engines = self._of_engines = self._room.make(EngineRecord, engines)
        of_service = self._of_service = self._room.make(ServiceRecord, 1)
        self.records = {"places": self._places, "engine_records": of_engines, "service_record": of_service}
        for records in (of_engines, of_service):
            records["last"] = rows - 1
            records["row"] = cycle // interval
            records["end"] = (cycle // interval + 1) * interval
        of_engines["stall_row"], of_engines["stall_end"] = of_engines["row"], of_engines["end"]
        of_engines["stalls"] = stalls
        of_service["word_mask"], of_service["links_of_engine"] = words - 1, self._link_count
        self._settings = dict(zip(_SETTINGS, self._room.make(int, len(_SETTINGS))[:, None], strict=True))
        self._settings["interval"][0], self._settings["next"][0] = interval, cycle // interval

        def make(owners: NDArray[np.void], field: str, *shape: int) -> NDArray[np.int64]:
            made = self._room.link(owners, field, int, int(np.prod(shape)))
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
        self._taken = self._room.make(int, KINDS * words * 2).reshape(KINDS, words, 2)
        self._latencies = self._room.make(int, HISTOGRAM_BINS)
        # Requests by link in the rows that were drained since they were last taken, less those of other rows by then.
        self._passed = self._room.make(int, engines * 2 * self._link_count).reshape(engines, 2, self._link_count)
        self._opened = self._room.make(int, self._bank_count)
        self._sums = np.zeros((self._bank_count, KINDS, 2), np.int64)
        self._found_banks = np.zeros((self._bank_count * KINDS, 4), np.int64)
        self._found_latencies = np.zeros((HISTOGRAM_BINS, 2), np.int64)
        self._found_links = np.zeros((engines * self._link_count, 4), np.int64)
        self._tables: dict[str, NDArray[Any]] = {}

    def know(self, allocations: Sequence[tuple[int, int]], kinds: Sequence[ArrayKind], top: int) -> None:
        """Tell what lies where; it is the same for whoever goes on from a state of this.

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
                self._room.set_link(self._places, name, table.ctypes.data)
            self._places[name] = table.ctypes.data

    def drain(self, cycle: int) -> RecordedIntervals:
        """Return the intervals that end before a cycle, and make their places free.

        Raises
        ------
        ValueError
            More intervals have passed since the last time than there are places.
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
        """Return what has been counted since the last time.

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

    def forget(
        self, histograms: NDArray[np.int64], stalls: NDArray[np.int64], openings: NDArray[np.int64] | None
    ) -> None:
        """Go on counting where the AEs' histograms of read latencies, their stalls and openings will begin anew.

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
        """Return a copy of all."""
        return self._room.save()

    def load(self, copies: Sequence[NDArray[np.uint64]]) -> None:
        """Go on from a copy.

        Raises
        ------
        ValueError
            It is of a record of other sizes, of another interval, or of none.
        """
        if not copies:
            raise ValueError("the memory's state has no record to go on with")
        before = self.save()
        self._room.load(copies)
        interval = int(self._settings["interval"][0])
        if interval != self.interval:
            self._room.load(before)
            raise ValueError(f"the memory's record has intervals of {interval} cycles, not {self.interval}")

    @staticmethod
    def _emptied(ring: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return places of a ring, which are 0 afterwards."""
        rows = ring[places]
        ring[places] = 0
        return rows


@jit
def _empty_words(since, more, filled, places, bank_by_word, banks):  # type: ignore[no-untyped-def]
    """Add what rings have of words to the banks that they are of."""
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
    """List what was counted since it was last taken by bank and kind; sums by bank are 0 before and afterwards."""
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
    """List what was counted since it was last taken by latency."""
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
    """List what was counted by AE and link since it was last taken; what is not drained is of some intervals."""
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
