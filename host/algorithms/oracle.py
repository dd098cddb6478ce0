"""Whether the memory still holds what the host put there, and nothing that nobody put there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from host.graph.digests import BLOCK_BYTES, block_digests
from host.graph.memory_map import PlacedGraph
from host.words import counted
from sim.caching.code import njit
from sim.coprocessor import Coprocessor
from sim.errors import SimulationError
from sim.hardware import DEGREE, LEVEL, START, VISITED, Field

__all__ = ["Checked", "check_graphs", "check_stray_writes"]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a result was checked by, and what of the memory was compared with the graphs as the host read them.

    Parameters
    ----------
    reference : str
        Whose result the accelerator's was compared with, empty where only the memory was.
    neighbour_blocks : int
        Blocks of neighbour ids, by their digests.
    graph_words : int
        Graph words, their start and degree.
    level_words : int
        Graph words that hold a level where start and degree were: of these only that nothing else is in them.
    """

    reference: str = ""
    neighbour_blocks: int
    graph_words: int
    level_words: int


def check_stray_writes(coprocessor: Coprocessor) -> None:
    """Refuse a memory in which something was written where no array is.

    Raises
    ------
    SimulationError
        There is such a place.
    """
    if strays := coprocessor.stray_writes():
        raise SimulationError(
            f"memory: address {strays[0]:#x}, which is in no array, was written to "
            f"({counted(len(strays), 'such place')})"
        )


@njit(cache=True, nogil=True)
def _wrong_words(
    offsets: npt.NDArray[np.int64],
    words: npt.NDArray[np.uint64],
    levels: bool,
    fields: tuple[Field, Field, Field, Field],
) -> tuple[int, int, int]:
    """Return how many graph words are not as they must be, the first one, and how many of the others hold a level."""
    start, degree, visited, level = fields
    one = np.uint64(1)
    level_bits = level.mask << level.shift | visited.mask << visited.shift
    wrong, first, holding = 0, -1, 0
    for vertex in range(words.size):
        word = words[vertex]
        if levels and word >> visited.shift & one:
            right = word & ~level_bits == 0
            holding += right
        else:
            begin = np.uint64(offsets[vertex])
            count = np.uint64(offsets[vertex + 1]) - begin
            right = word >> start.shift & start.mask == begin and word >> degree.shift & degree.mask == count
        if not right:
            wrong += 1
            if first < 0:
                first = vertex
    return wrong, first, holding


def _check_neighbours(graph: PlacedGraph) -> None:
    changed = np.flatnonzero(block_digests(graph.graph.targets) != graph.digests)
    if not changed.size:
        return
    begin = graph.neighbours_address + BLOCK_BYTES * int(changed[0])
    end = min(begin + BLOCK_BYTES, graph.neighbours_address + 4 * graph.graph.edges)
    raise SimulationError(
        f"memory: neighbours of the {graph.name} are not those that were read: block {changed[0]}, "
        f"addresses {begin:#x} to {end - 1:#x} ({changed.size} of {counted(graph.digests.size, 'block')} changed)"
    )


def _check_words(graph: PlacedGraph, *, levels: bool) -> int:
    """Return how many words hold a level."""
    fields = START, DEGREE, VISITED, LEVEL
    wrong, first, holding = _wrong_words(graph.graph.offsets, graph.words, levels, fields)
    if wrong:
        raise SimulationError(
            f"memory: graph words of the {graph.name} are not those of the graph that was read: word {first}, "
            f"address {graph.words_address + 8 * first:#x}, is {int(graph.words[first]):#x} "
            f"({wrong} of {counted(graph.words.size, 'word')} changed)"
        )
    return holding


def check_graphs(coprocessor: Coprocessor, graphs: Sequence[PlacedGraph]) -> Checked:
    """Refuse placed graphs that are no longer those that the host read; then what is computed from them is right too.

    Neighbour ids by digests made before they were uploaded, start and degree of the graph words by the offsets, which
    the host kept. Where the coprocessor writes levels into the graph words, those that it visited have no start and
    degree any more.

    Parameters
    ----------
    coprocessor : Coprocessor
        Where they were placed.
    graphs : sequence of PlacedGraph
        The graphs.

    Raises
    ------
    SimulationError
        Something differs: which array, and where.
    """
    levels = not coprocessor.config.keeps_reach_queue
    for graph in graphs:
        _check_neighbours(graph)
    holding = sum(_check_words(graph, levels=levels) for graph in graphs)
    return Checked(
        neighbour_blocks=sum(graph.digests.size for graph in graphs),
        graph_words=sum(graph.words.size for graph in graphs) - holding,
        level_words=holding,
    )
