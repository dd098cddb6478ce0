"""Search for the smallest depths of several FIFOs, each step of which is measured.

The search starts from a guess. Where halving one or more FIFOs is within the limit, it goes there; where none is, no
FIFO can be halved, and it tries to halve one at the price of doubling another. It ends where neither makes the FIFOs
smaller, nor the run faster with FIFOs as small, whatever the cycles do in between: they need not fall with the depths.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import floor

Depths = tuple[int, ...]
"""A depth of each FIFO."""

_LUT_RAM = 64
"""Most places of a FIFO in LUT RAM; a deeper one takes block RAM, of which 512 places cost no more than 128."""


@dataclass(kw_only=True)
class DepthSearch:
    """A search, with what it has measured so far.

    FIFOs are smaller if fewer of them are in block RAM, or, with as many, if they have fewer places in total.

    Parameters
    ----------
    present : tuple
        The present depths, powers of two.
    limits : sequence of (int, int)
        Least and greatest depth of each FIFO.
    copies : sequence of int
        Number of FIFOs of each depth.
    within : float
        Cycles that smaller FIFOs may cost, as a share of those with the present depths.
    measure : callable
        Returns the cycles with each of some depths.

    Attributes
    ----------
    cycles : dict of tuple to int
        Cycles by depths.
    """

    present: Depths
    limits: Sequence[tuple[int, int]]
    copies: Sequence[int]
    within: float
    measure: Callable[[list[Depths]], Mapping[Depths, int]]
    cycles: dict[Depths, int] = field(default_factory=dict, init=False)

    @property
    def limit(self) -> int:
        """Most cycles that count as hardly more than those with the present depths."""
        return floor(self.cycles[self.present] * (1 + self.within))

    def smallest(self, guess: Depths) -> Depths:
        """Return the smallest depths.

        Parameters
        ----------
        guess : tuple
            The depths to start from, at most the present ones.
        """
        self._measure([self.present, guess])
        depths = self._grown(guess)
        while True:
            halved = self._enough(each for place in range(len(depths)) for each in self._changed(depths, place, 0.5))
            if halved:
                together = tuple(map(min, zip(*halved, strict=True)))
                depths = next(iter(self._enough([together])), halved[0])
                continue
            self._enough(self._exchanged(depths))
            best = self._enough([depths, *self.cycles])[0]
            if self._rank(best) == self._rank(depths):
                return depths
            depths = best

    def equals(self, depths: Depths) -> list[Depths]:
        """Return the measured depths within the limit that are as small as the given ones."""
        cost = self._cost(depths)
        return [each for each in self._enough(self.cycles) if each != depths and self._cost(each) == cost]

    def halved(self, depths: Depths, place: int) -> Depths | None:
        """Return the depths with one halved; None if there is no such FIFO."""
        return next(self._changed(depths, place, 0.5), None)

    def _changed(self, depths: Depths, place: int, factor: float) -> Iterator[Depths]:
        """Yield the depths with one multiplied by a factor; nothing if there is no such FIFO."""
        depth = int(depths[place] * factor)
        least, most = self.limits[place]
        if least <= depth <= most:
            yield (*depths[:place], depth, *depths[place + 1 :])

    def _exchanged(self, depths: Depths) -> list[Depths]:
        """Return the depths with one halved and another one doubled that are no larger."""
        every = [
            each
            for smaller, larger in permutations(range(len(depths)), 2)
            for half in self._changed(depths, smaller, 0.5)
            for each in self._changed(half, larger, 2)
        ]
        return [each for each in every if self._cost(each) <= self._cost(depths)]

    def _grown(self, depths: Depths) -> Depths:
        """Return depths within the limit, at least the given ones and at most the present ones."""
        while not self._enough([depths]):
            # There is one to double: the present depths are within the limit.
            doubled = [
                each
                for place, present in enumerate(self.present)
                if depths[place] < present
                for each in self._changed(depths, place, 2)
            ]
            enough = self._enough(doubled)
            depths = enough[0] if enough else min(doubled, key=self.cycles.__getitem__)
        return depths

    def _enough(self, wanted: Iterable[Depths]) -> list[Depths]:
        """Measure depths, and return those within the limit: the smallest first, of equal ones the fastest."""
        every = list(wanted)
        self._measure(every)
        return sorted((depths for depths in every if self.cycles[depths] <= self.limit), key=self._rank)

    def _rank(self, depths: Depths) -> tuple[tuple[int, int], int]:
        """Return what is least for the best depths."""
        return self._cost(depths), self.cycles[depths]

    def _cost(self, depths: Depths) -> tuple[int, int]:
        """Return the size of FIFOs: the number of those in block RAM, and the places of all."""
        sizes = list(zip(self.copies, depths, strict=True))
        return sum(count for count, depth in sizes if depth > _LUT_RAM), sum(count * depth for count, depth in sizes)

    def _measure(self, wanted: Iterable[Depths]) -> None:
        missing = [depths for depths in dict.fromkeys(wanted) if depths not in self.cycles]
        if missing:
            self.cycles.update(self.measure(missing))
