"""Synthetic traffic of a recorded level: entries, edges, words and pushes with the counts of the record."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cyscc.host.analysis.explain.queueing import (
    DROPPED,
    NOTHING,
    READ_AGAIN,
    WRITTEN,
    Machine,
    Memory,
    Stream,
    modelled,
)
from cyscc.host.record.arrow import Integers, numbers
from cyscc.host.record.reader import Record
from cyscc.sim import hardware
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.memory import Profile

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Traffic", "capped", "hubs_of", "pushes_of"]

_WORD_BITS = 20
"""Bits of the place of a word: more than any address map distinguishes."""

_STEPS = 7
"""Steps in which the number of repeated neighbours of a level is found."""

_REPEATED = 0.003
"""Vertices pushed again, as a share of the edges, from which on that number matters."""

_CAPPING = 20
"""Most rounds in which edges of entries that have more than a chunk go to others."""

_HUB, _HUB_SHARE = 8, 0.01
"""Edges of an entry, as a multiple of the mean and as a share of the level's, above both of which it counts as no copy:
without it the level would be another one."""

_OUTLIER = 6
"""Standard deviations by which a kernel has more edges than others of which a single entry is the reason."""

_SIGMA = 1.4826
"""Standard deviation of a normal distribution, in median deviations."""

_NEAR = 16
"""Entries within which a vertex stands in a queue again: kernels that read its word at the same time reserve slots in
the same turn of the token."""


class Traffic:
    """Synthetic traffic of a level or an intersection.

    What a record does not tell is drawn at random, the same in every call: the degrees within a kernel's entries, with
    the variance that the kernels' sums show; the words that edges lead to, with the recorded accesses of the banks; and
    which edges lead to the same new vertex.

    Parameters
    ----------
    record : Record
        The record.
    memory : Profile or None
        Its memory.
    pushes : pandas.DataFrame
        The vertices that its levels pushed, see `pushes_of`.
    number : int
        The instruction.
    share : float
        Part of the requests that the traffic is to have.

    Attributes
    ----------
    share : float
        The part that it has.
    pushed, found : int
        Vertices that it pushes, not their chunks; and each of them counted once.
    """

    def __init__(
        self, record: Record, memory: Profile | None, pushes: "pd.DataFrame", number: int, share: float
    ) -> None:
        random = np.random.default_rng(number)
        frame = record.frame("instruction_kernels")
        frame = frame[frame["instruction"] == number].sort_values(["engine", "kernel"])
        entries, second, third, writes = (numbers(frame[name]) for name in ("issue_1", "issue_2", "issue_3", "write"))
        row = record.instructions.loc[number]
        searches = row["module"] == "bfs"
        # A part has fewer entries and edges of every kernel, and so the same imbalance.
        part = np.ceil(entries * share).astype(np.int64)
        read = _edges(record, row, second, third) if searches else second
        edges = np.rint(read * share).astype(np.int64) if searches else part
        self.share = share
        config = AcceleratorConfig.from_mapping(record.document["configuration"])
        self._chunk = config.edge_chunk if searches else 0
        self._degrees = _degrees(part, edges, random)
        if self._chunk:
            self._degrees = capped(self._degrees, self._chunk, entries.size)
        self._first = np.cumsum(self._degrees) - self._degrees
        self._lists = random.integers(0, 1 << _WORD_BITS, self._degrees.size)
        count = int(self._degrees.sum())
        places = random.integers(0, 1 << _WORD_BITS, max(count, 1))
        self._words = _words(record, memory, number, places, random)
        self._fates = np.full(count, NOTHING, np.int8)
        self._vertices = np.zeros(max(count, 1), np.int64)
        self._pieces = np.ones(max(count, 1), np.int64)
        draws = random.random(count)
        self.found = self.pushed = 0
        self._copies = np.zeros(self._degrees.size, bool)
        if not searches:
            number_of = max(int(entries.sum()), 1)
            self._fates[draws < int(third.sum()) / number_of] = READ_AGAIN
            self._fates[draws > 1 - (int(writes.sum()) - int(third.sum())) / number_of] = WRITTEN
            return
        pushed, found, slots = (int(value) for value in pushes.loc[number])
        self._pieces_each = slots / max(pushed, 1)
        self.pushed = round(pushed * share)
        self.found = round(found * share)
        if row["level"] > 0 and number - 1 in pushes.index and pushes["pushed"][number - 1]:
            before = pushes.loc[number - 1]
            self._copies = random.random(self._degrees.size) < 1 - before["found"] / before["pushed"]
            self._copies &= self._degrees <= max(_HUB * self._degrees.mean(), _HUB_SHARE * self._degrees.sum())
        self._chances = random.random(self._degrees.size)
        self._same, own = self._of_originals()
        self._order = random.permutation(own)
        self._popular = random.random(own.size)
        self._draws = draws
        self._read = int(third.sum()) / max(float(read.sum()), 1)
        # The banks tell nothing of words that are not read.
        self._words[:count] = np.where(draws > self._read, places[:count], self._words[:count])
        self._words[: self._same.size] = self._words[: self._same.size][self._same]
        # Which vertices have more chunks than others is not recorded.
        self._pieces += (self._pieces_each - 1 + random.random(self._pieces.size)).astype(np.int64)
        self._repeat(self.pushed - self.found)

    def _of_originals(self) -> tuple[Integers, Integers]:
        """Return the edge of which each edge is a copy, or itself, and the edges that are no copies."""
        same = np.arange(self._fates.size)
        own = np.ones(self._fates.size, bool)
        originals = np.flatnonzero(~self._copies)
        for copy in np.flatnonzero(self._copies) if originals.size else ():
            # Vertices are pushed again shortly after: a copy stands near its original.
            near = max(int(np.searchsorted(originals, copy)) - 1 - int(self._chances[copy] * _NEAR), 0)
            original = originals[near]
            number = min(self._degrees[copy], self._degrees[original])
            at, of = self._first[copy], self._first[original]
            same[at : at + number] = np.arange(of, of + number)
            own[at : at + number] = False
        return same, np.flatnonzero(own)

    def _repeat(self, repeated: int) -> None:
        """Let so many edges lead to new vertices that another edge leads to already."""
        new = min(self.found, self._order.size)
        repeated = min(repeated, self._order.size - new)
        at = self._order[: new + repeated]
        self._fates[:] = NOTHING
        self._fates[self._draws > self._read] = DROPPED
        self._fates[at] = WRITTEN
        self._vertices[at[:new]] = np.arange(new)
        self._vertices[at[new:]] = self._popular[:repeated] * new
        self._fates = self._fates[self._same]
        if self._same.size:
            self._vertices = self._vertices[self._same]

    def calibrate(self, machine: Machine, memory: Memory, repeated: float) -> None:
        """Choose the number of repeated neighbours such that the model pushes as many vertices as the level did.

        Parameters
        ----------
        machine : Machine
            The kernels.
        memory : Memory
            Their memory.
        repeated : float
            The number in the whole level if all edges had random ends, for a machine whose filter hides it.
        """
        if machine.lanes and machine.engines == 1:
            self._repeat(round(max(repeated * self.share, self.pushed - self.found)))
            return
        least, most = 1.0, float(max(self._order.size - self.found, 1))
        if self.pushed - self.found < _REPEATED * self._fates.size:
            return
        for _ in range(_STEPS):
            middle = (least * most) ** 0.5
            self._repeat(round(middle))
            _, pushed = modelled(machine, memory, self.stream(machine))
            least, most = (middle, most) if pushed < self.pushed else (least, middle)
        self._repeat(round((least * most) ** 0.5))

    def stream(self, machine: Machine, more: float = 0.0, words: float = 1.0) -> Stream:
        """Return the traffic.

        Parameters
        ----------
        machine : Machine
            The kernels.
        more : float
            Entries that stand in the queue once more than recorded, as a share of its entries; negative if fewer do.
        words : float
            Words that a machine reads, as a multiple of those that the recorded one reads for as many edges.
        """
        degrees, first, lists = self._degrees, self._first, self._lists
        if more < 0 and self._copies.any():
            kept = ~self._copies | (self._chances > -more / self._copies.mean())
            degrees, first, lists = degrees[kept], first[kept], lists[kept]
        elif more > 0:
            times = 1 + np.floor(more + self._chances).astype(np.int64)
            degrees, first, lists = (np.repeat(each, times) for each in (degrees, first, lists))
        if machine.chunk and machine.chunk != self._chunk:
            pieces = np.maximum(-(-degrees // machine.chunk), 1)
            number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
            first, lists = (np.repeat(each, pieces) + number * machine.chunk for each in (first, lists))
            degrees = np.minimum(np.repeat(degrees, pieces) - number * machine.chunk, machine.chunk)
        fates = self._fates
        if (machine.lanes or words != 1.0) and not machine.intersects:
            others = np.where(self._draws < self._others_read(machine, words), NOTHING, DROPPED)
            fates = np.where(fates == WRITTEN, fates, others).astype(np.int8)
        return Stream(degrees, first, lists, self._words, fates, self._vertices, self._pieces)

    def _others_read(self, machine: Machine, words: float) -> float:
        """Return the share of the edges, but those to new vertices, whose words are read."""
        written = int((self._fates == WRITTEN).sum())
        read = float(written)
        if machine.lanes and self.found:
            # Each AE reads a new vertex's word at most once, if its filter has a bit for the vertex.
            met = self.found * machine.engines * (1 - (1 - 1 / machine.engines) ** (written / self.found))
            read += machine.filtered * (met - written)
        return (words * self._read * self._fates.size - read) / max(self._fates.size - written, 1)

    def most_pieces(self, machine: Machine) -> int:
        """Return the pieces that the largest entry has on a machine with other chunks, beyond one."""
        largest = int(self._degrees.max(initial=0))
        return -(-largest // machine.chunk) - 1 if machine.chunk and machine.chunk != self._chunk and largest else 0

    def beginning(self, entries: int) -> Stream:
        """Return the traffic of the first entries, with an edge each."""
        degrees = np.minimum(self._degrees[:entries], 1)
        first, lists = self._first[:entries], self._lists[:entries]
        return Stream(degrees, first, lists, self._words, self._fates, self._vertices, self._pieces)


def pushes_of(record: Record) -> "pd.DataFrame":
    """Return the vertices that each level pushed (`pushed`), each of them counted once (`found`), and their `slots`.

    A slot more than a vertex's first one is for a copy of it, or for another chunk. Only vertices are marked.
    """
    import pandas as pd

    config = AcceleratorConfig.from_mapping(record.document["configuration"])
    rows = record.instructions
    rows = rows[rows["module"] == "bfs"]
    slots, duplicates = rows["pushed"], rows["duplicates"]
    stacks = record.stacks.reindex(rows.index)
    if config.queues_whole_vertices:
        pushed = stacks["write"] // hardware.WRITES_PER_VISIT if config.writes_single_ids else slots
        return pd.DataFrame({"pushed": pushed, "found": (pushed - duplicates).clip(lower=0), "slots": pushed})
    found = slots - duplicates
    banks = record.frame("instruction_banks")
    if len(banks):
        words = banks[banks["array"] == "words"].groupby("instruction")["accesses"].sum()
        pushed = words.reindex(rows.index, fill_value=0) - stacks["issue_3"]
    else:
        pushed = stacks["write"] - 2 * slots if config.writes_single_ids else slots
    return pd.DataFrame({"pushed": pushed.clip(found, slots), "found": found, "slots": slots})


def _edges(record: Record, row: Any, second: Integers, third: Integers) -> npt.NDArray[Any]:
    """Return the edges that each kernel read in a level, by the reads of its processes 2 and 3."""
    config = AcceleratorConfig.from_mapping(record.document["configuration"])
    if config.reads_single_ids:
        return second
    # A pair has one id or two: what is known of all kernels is distributed as the reads are, unless each word is read.
    return third if config.reads_every_word else second * (row["edges"] / max(int(second.sum()), 1))


def _degrees(entries: Integers, edges: Integers, random: np.random.Generator) -> Integers:
    """Return the degrees of a queue's entries, of which kernels in turn read one each.

    Parameters
    ----------
    entries, edges : ndarray of int64
        Entries of each kernel, and edges that leave them.
    random : Generator
        Source of what they do not tell.
    """
    kernels = entries.size
    degrees = np.zeros(int(entries.sum()), np.int64)
    some = entries > 0
    if not some.any():
        return degrees
    hubs = hubs_of(entries, edges)
    edges = edges - hubs
    mean = edges.sum() / degrees.size
    variance = float(((edges - entries * mean)[some] ** 2 / entries[some]).mean())
    spread = np.sqrt(np.log1p(variance / max(mean, 1e-9) ** 2))
    weights = np.exp(spread * random.standard_normal(degrees.size))
    for kernel in range(kernels):
        its = weights[kernel::kernels].cumsum()
        if its.size:
            degrees[kernel::kernels] = np.diff(np.rint(its / its[-1] * edges[kernel]), prepend=0)
            degrees[kernel + kernels * int(weights[kernel::kernels].argmax())] += hubs[kernel]
    return degrees


def hubs_of(entries: Integers, edges: Integers) -> Integers:
    """Return the edges of each kernel that a single one of its entries has, a hub beside those of all others.

    Parameters
    ----------
    entries, edges : ndarray of int64
        Entries of each kernel, and edges that leave them.
    """
    some = entries > 0
    typical = float(np.median(edges[some] / entries[some]))
    more = edges - entries * typical
    spread = _SIGMA * float(np.median(np.abs(more[some]) / np.sqrt(entries[some])))
    return np.where(more > np.maximum(_HUB * typical, _OUTLIER * spread * np.sqrt(entries)), more, 0).astype(np.int64)


def capped(degrees: Integers, chunk: int, kernels: int) -> Integers:
    """Return degrees of at most a chunk, with the same sum for each kernel, if its entries have room for it.

    Parameters
    ----------
    degrees : ndarray of int64
        Degrees of the entries of a queue, of which kernels in turn read one each.
    chunk : int
        Most edges of an entry.
    kernels : int
        Kernels.
    """
    found = np.minimum(degrees, chunk)
    for kernel in range(kernels):
        its = found[kernel::kernels]
        rest = int(degrees[kernel::kernels].sum() - its.sum())
        for _ in range(_CAPPING):
            room = np.flatnonzero(its < chunk)
            if rest <= 0 or not room.size:
                break
            more = np.minimum(np.full(room.size, -(-rest // room.size)), chunk - its[room])
            more = np.diff(np.minimum(more.cumsum(), rest), prepend=0)
            its[room] += more
            rest -= int(more.sum())
    return found


def _words(
    record: Record, memory: Profile | None, number: int, places: Integers, random: np.random.Generator
) -> Integers:
    """Return the places of the words that edges lead to, with the banks' recorded accesses, from random ones."""
    shared = None if memory is None else memory.contention
    if shared is None:
        return places
    frame = record.frame("instruction_banks")
    frame = frame[(frame["instruction"] == number) & (frame["array"] == "words")]
    bank = numbers(frame["controller"]) * (shared.banks // shared.controllers) + numbers(frame["bank"])
    counts = np.bincount(bank, weights=frame["accesses"].to_numpy(), minlength=shared.banks)
    if not counts.sum():
        return places
    drawn = random.choice(shared.banks, size=places.size, p=counts / counts.sum())
    period = shared.bank_by_word.size
    of_bank = np.argsort(shared.bank_by_word, kind="stable").reshape(shared.banks, -1)
    word = of_bank[drawn, places % of_bank.shape[1]]
    # What a bank has more than the one that differs in the highest bit of the map is taken for one hub's word, which
    # the next bit does not divide; it divides the rest evenly.
    own = counts[shared.bank_by_word]
    other = np.roll(own, period // 2)
    hub = np.maximum(own - other, 0) / np.maximum(own, 1)
    more = np.where(random.random(period) < 0.5, 1 + hub, 1 - hub) / 2
    upper = random.random(places.size) < more[word]
    return word + period * (upper + 2 * (places >> 10))
