"""Markov decision processes put together from pieces: how files are read and families are made."""

import numpy as np
from numpy.typing import NDArray

from host.errors import InputError
from host.graph.csr import MAX_EDGES, MAX_VERTICES
from host.mdp.model import Mdp
from host.memory_room import check_room

__all__ = ["Pieces", "check_size"]

_CHECKED = 1 << 24  # transitions after which the memory is looked at again


def check_size(states: int, transitions: int) -> None:
    """Refuse a model whose graph does not fit the 32-bit indices of graphs.

    Raises
    ------
    InputError
        When there are more states than `MAX_VERTICES`, or more transitions than `MAX_EDGES`.
    """
    if states > MAX_VERTICES:
        raise InputError(f"{states} states are too many for 32 bits (at most {MAX_VERTICES})")
    if transitions > MAX_EDGES:
        raise InputError(f"{transitions} transitions are too many for 32 bits (at most {MAX_EDGES})")


def _offsets(lengths: list[NDArray[np.uint32]]) -> NDArray[np.int64]:
    """Return where each run begins, and the end of the last; the lengths are given up."""
    offsets = np.zeros(sum(map(len, lengths)) + 1, np.int64)
    place = 1
    for piece in lengths:
        offsets[place : place + len(piece)] = piece
        place += len(piece)
    lengths.clear()
    return np.cumsum(offsets, out=offsets)


class Pieces:
    """A Markov decision process that grows.

    Attributes
    ----------
    states, choices, transitions : int
        How many there are so far.
    """

    def __init__(self) -> None:
        self.states = self.choices = self.transitions = 0
        self._checked = _CHECKED
        self._counts: list[NDArray[np.uint32]] = []
        self._lengths: list[NDArray[np.uint32]] = []
        self._targets: list[NDArray[np.uint32]] = []

    def add(self, targets: NDArray[np.uint32], lengths: NDArray[np.uint32], counts: NDArray[np.uint32]) -> None:
        """Add states behind those that are there; the arrays are copied.

        Parameters
        ----------
        targets : ndarray of uint32
            Targets of their choices, one after the other.
        lengths : ndarray of uint32
            Number of targets of each choice.
        counts : ndarray of uint32
            Number of choices of each state.

        Raises
        ------
        InputError
            When the model does not fit in 32 bits or in memory.
        """
        self.states += len(counts)
        self.choices += len(lengths)
        self.transitions += len(targets)
        check_size(self.states, self.transitions)
        if self.transitions > self._checked:
            # The last step of building has the pieces of the targets and the whole at once.
            check_room(f"the first {self.transitions:,} transitions", 4 * self.transitions + 8 * self.choices)
            self._checked = self.transitions + _CHECKED
        for kept, array in ((self._targets, targets), (self._lengths, lengths), (self._counts, counts)):
            kept.append(array.copy())

    def mdp(self) -> Mdp:
        """Return the whole, and empty the pieces."""
        targets = np.concatenate([np.empty(0, np.uint32), *self._targets])
        self._targets.clear()
        return Mdp(choices=_offsets(self._counts), transitions=_offsets(self._lengths), targets=targets)
