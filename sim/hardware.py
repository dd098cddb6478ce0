"""The hardware's graph words, latencies and netlist, re-exported for the host."""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Signal
from amaranth.lib import data

from cyscc.hw.accelerator import ring_turn
from cyscc.hw.bfs import Kernel
from cyscc.hw.bfs.tags import Tag as BfsTag
from cyscc.hw.exchange.wires import ID_BITS, owner_bits
from cyscc.hw.graph_word import GraphWord, LevelWord
from cyscc.hw.intersection.tags import Tag as IntersectionTag
from cyscc.hw.module_master import ModuleMaster
from cyscc.hw.netlist import signal_graph
from cyscc.hw.queue import Queue
from cyscc.hw.request_mux import RequestMux
from cyscc.hw.switch.switch import Switch

__all__ = [
    "DEGREE",
    "LAUNCH_CYCLES",
    "LEVEL",
    "MUX_CYCLES",
    "QUEUE_CYCLES",
    "QUEUE_REGISTERS",
    "READERS",
    "START",
    "SWITCH_CYCLES",
    "TAGS",
    "VISITED",
    "WRITES_PER_VISIT",
    "Field",
    "chunk_words",
    "chunks_of",
    "owners_of",
    "ring_turn",
    "signal_graph",
]


class Field(NamedTuple):
    """A field of a 64-bit word, usable as an argument of compiled functions.

    Parameters
    ----------
    shift : uint64
        Its lowest bit.
    mask : uint64
        Mask of its width, unshifted.
    """

    shift: np.uint64
    mask: np.uint64

    @classmethod
    def of(cls, layout: data.StructLayout, name: str) -> Self:
        """Return a field of a layout."""
        field = layout[name]
        return cls(np.uint64(field.offset), np.uint64((1 << field.width) - 1))

    def get(self, words: Any) -> Any:
        """Return the field of a word or of an array of words, uint64."""
        return words >> self.shift & self.mask

    def put(self, value: int) -> np.uint64:
        """Return a word with a value in this field and zeros elsewhere."""
        return np.uint64(value) << self.shift


START, DEGREE, VISITED = (Field.of(GraphWord, name) for name in ("start", "degree", "visited"))
"""Fields of a graph word, see `cyscc.hw.graph_word.GraphWord`."""

LEVEL = Field.of(LevelWord, "level")
"""Level in a visited graph word (`VISITED` is set) of machines that write levels, see `LevelWord`."""


LAUNCH_CYCLES = ModuleMaster.launch_cycles(Kernel.PARAMETERS)
"""Cycles from the start of a level until its token starts."""

MUX_CYCLES = RequestMux.LATENCY
"""Cycles from a request's grant to the memory port."""

QUEUE_CYCLES = Queue.LATENCY
"""Least cycles of an entry in a queue."""

QUEUE_REGISTERS = Queue.REGISTERS
"""Entries that a queue holds beyond its depth."""

SWITCH_CYCLES = Switch.LATENCY
"""Cycles of a read in the switch, there and back."""


def _by_tag(tags: Any, **processes: str) -> dict[int, str]:
    return {tags[name].value: process for name, process in processes.items()}


READERS = {
    "bfs": _by_tag(
        BfsTag,
        FRONTIER_WORD="frontier_reader",
        NEIGHBOUR_ID="neighbour_reader",
        NEIGHBOUR_WORD="word_reader",
    ),
    "intersection": _by_tag(
        IntersectionTag,
        REACH_ENTRY="reach_reader",
        COLOUR="colour_reader",
        OTHER_WORD="colour_reader",
        OWN_WORD="classifier",
    ),
}
"""The process of a kernel that issues reads with a tag, by module and tag; named as in waveforms."""


def _tags(tags: Any, **arrays: str) -> dict[str, int]:
    return {array: tags[name].value for array, name in arrays.items()}


TAGS = {
    "bfs": _tags(BfsTag, queues="FRONTIER_WORD", neighbours="NEIGHBOUR_ID", words="NEIGHBOUR_WORD"),
    "intersection": _tags(IntersectionTag, queues="REACH_ENTRY", colours="COLOUR"),
}
"""The tag of a kernel's reads, by module and by the arrays that it reads with one tag alone."""

WRITES_PER_VISIT = Kernel.WRITES_PER_VISIT
"""Memory writes for each pushed vertex."""


def chunks_of(words: npt.NDArray[np.uint64], edge_chunk: int) -> npt.NDArray[np.int64]:
    """Return how many queue entries each of some vertices takes, by their graph words.

    Parameters
    ----------
    words : ndarray of uint64
        The graph words.
    edge_chunk : int
        Field of the configuration.
    """
    degrees: npt.NDArray[np.int64] = DEGREE.get(words).astype(np.int64)
    return np.maximum(-(-degrees // edge_chunk), 1) if edge_chunk else np.ones_like(degrees)


def chunk_words(word: int, edge_chunk: int) -> npt.NDArray[np.uint64]:
    """Return the queue entries of a vertex: its graph word, or if it has more edges than a chunk, one word for each.

    Parameters
    ----------
    word : int
        The graph word.
    edge_chunk : int
        Field of the configuration.
    """
    own = np.array([word], np.uint64)
    (count,) = chunks_of(own, edge_chunk).tolist()
    if count == 1:
        return own
    first = np.arange(count, dtype=np.uint64) * np.uint64(edge_chunk)
    degrees = np.minimum(DEGREE.get(own) - first, np.uint64(edge_chunk))
    starts = START.get(own) + first
    words: npt.NDArray[np.uint64] = VISITED.get(own) << VISITED.shift | degrees << DEGREE.shift | starts << START.shift
    return words


def owners_of(vertices: npt.NDArray[np.int64], kernels: int) -> npt.NDArray[np.int64]:
    """Return the kernels of an AE that own vertices, where kernels exchange ids.

    Parameters
    ----------
    vertices : ndarray of int64
        The vertices.
    kernels : int
        Kernels of an AE, a power of two.
    """
    bits = owner_bits(Signal(ID_BITS), kernels)
    return vertices >> bits.start & (1 << len(bits)) - 1
