"""The hardware's graph words, latencies and netlist, re-exported for the host."""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from amaranth.lib import data

from cyscc.hw.accelerator import ring_turn as ring_turn
from cyscc.hw.bfs import Kernel
from cyscc.hw.graph_word import GraphWord, LevelWord
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.module_master import ModuleMaster
from cyscc.hw.netlist import signal_graph as signal_graph
from cyscc.hw.queue import Queue
from cyscc.hw.request_mux import RequestMux
from cyscc.hw.switch.switch import Switch


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


_KERNELS = {"bfs": Kernel, "intersection": IntersectionKernel}

READS = {module: {tag.value: read for tag, read in kernel.READS.items()} for module, kernel in _KERNELS.items()}
"""The process that issues reads with a tag, and the array that it reads, by module and tag; named as in waveforms."""

WRITES = {module: dict(kernel.WRITES) for module, kernel in _KERNELS.items()}
"""The process that writes to an array, by module and array."""

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


def list_reads(words: npt.NDArray[np.uint64], *, pairs: bool) -> npt.NDArray[np.int64]:
    """Return with how many reads a kernel gets the neighbours of each of some queue entries.

    Parameters
    ----------
    words : ndarray of uint64
        The entries.
    pairs : bool
        Field `pair_reads` of the configuration.
    """
    degrees: npt.NDArray[np.int64] = DEGREE.get(words).astype(np.int64)
    odd = START.get(words).astype(np.int64) & 1
    return np.where(degrees > 0, (degrees + odd + 1) // 2, 0) if pairs else degrees
