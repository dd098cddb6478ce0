"""The register map and the instructions: the hardware's interface to host programs.

An Application Engine is driven as the coprocessor drives it (Attia et al. 2015, section 5.1 and figure 9): parameters
travel in its AEG registers, then an instruction is dispatched, and results are read back from AEG registers.
"""

from enum import IntEnum, IntFlag
from typing import Any, Self


class Numbered(IntEnum):
    """An enumeration with members numbered from 0, declared by their descriptions."""

    def __new__(cls, *_row: Any) -> Self:
        """Return the next member."""
        member = int.__new__(cls, len(cls.__members__))
        member._value_ = int(member)
        return member


class Register(IntEnum):
    """AEG register numbers. Addresses are in bytes, counts in elements."""

    WORDS = 0
    """Address of R, the 64-bit graph words of the direction that is searched (intersection: the forward graph's)."""
    NEIGHBOURS = 1
    """Address of C, the 32-bit neighbour ids."""
    CURRENT_QUEUE = 2
    """Address of the current frontier queue of 64-bit graph words."""
    NEXT_QUEUE = 3
    """Address of the next frontier queue of 64-bit graph words."""
    REACH_QUEUE = 4
    """Address of the next free 32-bit entry of the reach queue; in a machine that only searches, the next level."""
    CURRENT_COUNT = 5
    """Entries of the current queue; after the level, on AE 0: entries of the next queue.

    Bit `NEW_SEARCH_BIT` marks the first level of a search, for a machine that remembers the ids met in a search.
    """
    CAPACITY = 6
    """Entries that fit into both the next queue and, if there is one, the rest of the reach queue."""
    TRANSPOSED_WORDS = 7
    """Intersection: address of R', the graph words of the transpose."""
    COLOURS = 8
    """Intersection: address of SCC, the 32-bit colour of each vertex."""
    FORWARD_QUEUE = 9
    """Intersection: address of the forward reach queue of 32-bit vertex ids."""
    FORWARD_COUNT = 10
    """Intersection: entries in the forward reach queue."""
    BACKWARD_QUEUE = 11
    """Intersection: address of the backward reach queue of 32-bit vertex ids."""
    BACKWARD_COUNT = 12
    """Intersection: entries in the backward reach queue."""
    COLOUR = 13
    """Intersection: the colour of this iteration's component."""
    NEXT_START = 14
    """After an intersection, on AE 0: an uncoloured vertex, or `NO_START` (0xffffffff) if the kernels met none."""
    STATUS = 16
    """Read only: see `Status`."""
    CYCLES = 17
    """Read only: cycles from the last dispatch to its completion (or until now)."""


class Instruction(IntEnum):
    """Instructions of the coprocessor (caep numbers of the personality)."""

    BFS_LEVEL = 0
    """Expand the current queue into the next queue and the reach queue."""
    INTERSECTION = 1
    """Colour the vertices that both searches reached, unvisit the others, offer a next start."""


class Status(IntFlag):
    """Bits of the `Register.STATUS` register."""

    BUSY = 1
    """An instruction is running."""
    OVERFLOW = 2
    """A kernel dropped a vertex because its slot was at or beyond `Register.CAPACITY`. Cleared by a dispatch."""
    BAD_INSTRUCTION = 4
    """An unknown instruction was dispatched, or one during another. Sticky until reset."""


class KernelWord(IntEnum):
    """Words of a kernel's block in the kernel window: its state, and its event counters."""

    STATE = 0
    """Flags and levels; the fields depend on the kernel."""
    CREDITS = 1
    """Free reserved places of each response FIFO."""
    RESERVATION = 2
    """Slot allocator: demand and slots left (BFS kernels)."""
    COUNTER_0 = 4
    """First of the event counters, see `Counter`."""


class Counter(Numbered):
    """Event counters of a kernel since reset, words `KernelWord.COUNTER_0` + n. 32 bits, wrapping.

    Attributes
    ----------
    bfs, intersection : str
        What it counts in a BFS kernel, and in an intersection kernel.
    """

    bfs: str
    intersection: str

    ENTRIES = "queue entries read", "queue entries read"
    ITEMS = "neighbour words examined", "words requested again in order to unvisit"
    PUSHED = "vertices pushed", "vertices coloured"
    REQUESTS = "memory requests granted by the multiplexer", "the same"

    def __init__(self, bfs: str, intersection: str) -> None:
        self.bfs, self.intersection = bfs, intersection


NEW_SEARCH_BIT = 32
"""Bit of `Register.CURRENT_COUNT` by which a machine that remembers the ids met in a search forgets them."""

NO_START = 0xFFFF_FFFF
"""All ones: what stands for the next start, also on the ring, while the kernels have met no uncoloured vertex."""

KERNEL_WINDOW = 0x1000
"""First register number of the kernel window: one block of words per kernel, BFS kernels first."""

KERNEL_WORD_BITS = (KernelWord.COUNTER_0 + len(Counter) - 1).bit_length()
"""Bits of a word's number in its block."""


def kernel_register(kernel: int, word: int) -> int:
    """Return the AEG register number of a word of a kernel's state.

    Parameters
    ----------
    kernel : int
        Kernel of this AE: BFS kernels from 0, then the intersection kernels.
    word : int
        See `KernelWord` and `Counter`.
    """
    return KERNEL_WINDOW + (kernel << KERNEL_WORD_BITS) + word
