"""Verification of memory contents against what the host uploaded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cyscc.host.graph.loops import loop
from cyscc.host.graph.memory_map import BLOCK_BYTES, PlacedGraph, block_digests
from cyscc.host.output.text import count_text
from cyscc.sim.coprocessor import Coprocessor
from cyscc.sim.errors import SimulationError
from cyscc.sim.hardware import DEGREE, LEVEL, START, VISITED


@dataclass(frozen=True, kw_only=True)
class Checked:
    """Checks that a result passed: the reference algorithm, and the memory compared with the graphs as read.

    Parameters
    ----------
    reference : str
        Algorithm that the result was compared with; empty if only the memory was checked.
    neighbour_blocks : int
        Blocks of neighbour ids compared by digest.
    graph_words : int
        Graph words whose start and degree were compared.
    level_words : int
        Graph words in which a level replaced start and degree; only checked to hold a valid level.
    """

    reference: str = ""
    neighbour_blocks: int
    graph_words: int
    level_words: int


def check_stray_writes(coprocessor: Coprocessor) -> None:
    """Refuse writes outside of all allocated arrays.

    Raises
    ------
    SimulationError
        There was such a write.
    """
    if strays := coprocessor.stray_writes():
        raise SimulationError(
            f"memory: address {strays[0]:#x}, which is in no array, was written to "
            f"({count_text(len(strays), 'such place')})"
        )


def _check_neighbours(graph: PlacedGraph) -> None:
    changed = np.flatnonzero(block_digests(graph.graph.targets) != graph.digests)
    if not changed.size:
        return
    begin = graph.neighbours_address + BLOCK_BYTES * int(changed[0])
    end = min(begin + BLOCK_BYTES, graph.neighbours_address + 4 * graph.graph.edges)
    raise SimulationError(
        f"memory: neighbours of the {graph.name} are not those that were read: block {changed[0]}, "
        f"addresses {begin:#x} to {end - 1:#x} ({changed.size} of {count_text(graph.digests.size, 'block')} changed)"
    )


def _check_words(graph: PlacedGraph, *, levels: bool) -> int:
    """Check the graph words; return how many hold a level."""
    fields, found = np.array([START, DEGREE, VISITED, LEVEL], np.uint64), np.zeros(3, np.int64)
    loop("wrong_words", graph.graph.offsets, graph.words, graph.words.size, levels, fields, found)
    wrong, first, holding = found.tolist()
    if wrong:
        raise SimulationError(
            f"memory: graph words of the {graph.name} are not those of the graph that was read: word {first}, "
            f"address {graph.words_address + 8 * first:#x}, is {int(graph.words[first]):#x} "
            f"({wrong} of {count_text(graph.words.size, 'word')} changed)"
        )
    return holding


def check_graphs(coprocessor: Coprocessor, graphs: Sequence[PlacedGraph]) -> Checked:
    """Check that placed graphs are unchanged in memory, so that results checked against them are valid.

    Neighbour ids are compared by digests made before the upload; start and degree of the graph words by the offsets,
    which the host kept. If the coprocessor writes levels into the graph words, visited words no longer hold start and
    degree.

    Parameters
    ----------
    coprocessor : Coprocessor
        Coprocessor of the graphs.
    graphs : sequence of PlacedGraph
        The graphs.

    Raises
    ------
    SimulationError
        The memory differs; names the array and the place.
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
