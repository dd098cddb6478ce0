"""The requests of a level, against the addresses of the memory model's documentation."""

from collections import Counter

import numpy as np
import pytest

from host.studies.roofline.traffic import LevelTraffic
from sim.coprocessor import Register
from sim.errors import SimulationError
from sim.memory import Hc2
from tests.refusals import refused
from tests.system.graphs import messy_graph
from tests.words import graph_word

ADDRESSES = {
    Register.CURRENT_QUEUE: 4608,
    Register.NEIGHBOURS: 81_920,
    Register.WORDS: 1 << 20,
    Register.NEXT_QUEUE: 40_960,
    Register.REACH_QUEUE: 9220,
}


def link(address: int) -> int:
    return 2 * (address >> 6 & 7) + (address >> 3 & 1)


def bank(address: int) -> int:
    return 128 * (address >> 6 & 7) + (address >> 9 & 15) * 8 + (address >> 3 & 7)


@pytest.mark.parametrize(("engines", "kernels"), [(1, 1), (1, 5), (2, 2), (4, 3)])
def test_every_request_is_counted_where_it_goes(engines: int, kernels: int) -> None:
    graph = messy_graph(300, 2000, seed=engines)
    random = np.random.default_rng(7)
    frontier = random.integers(0, 300, 37)
    pushed = random.integers(0, 300, 23).astype(np.uint32)
    pushes = random.multinomial(23, np.ones(engines * kernels) / (engines * kernels))

    reads: list[list[int]] = [[] for _ in range(engines * kernels)]
    edges = [0] * (engines * kernels)
    for place, vertex in enumerate(frontier.tolist()):
        kernel = place % (engines * kernels)
        first, end = graph.offsets[vertex : vertex + 2].tolist()
        edges[kernel] += end - first
        reads[kernel].append(ADDRESSES[Register.CURRENT_QUEUE] + 8 * place)
        for index in range(first, end):
            neighbour = int(graph.targets[index])
            reads[kernel] += [ADDRESSES[Register.NEIGHBOURS] + 4 * index, ADDRESSES[Register.WORDS] + 8 * neighbour]
    writes = [
        address
        for slot, vertex in enumerate(pushed.tolist())
        for address in (
            ADDRESSES[Register.NEXT_QUEUE] + 8 * slot,
            ADDRESSES[Register.WORDS] + 8 * vertex,
            ADDRESSES[Register.REACH_QUEUE] + 4 * slot,
        )
    ]

    degrees = graph.out_degrees()
    queue = [graph_word(int(graph.offsets[v]), int(degrees[v]), visited=True) for v in frontier]
    issued = np.array([len(own) for own in reads]) + 3 * pushes
    traffic = LevelTraffic.count(
        queue=np.array(queue, np.uint64),
        targets=graph.targets,
        reach=np.concatenate([pushed, np.full(9, 5, np.uint32)]),
        issued=issued.reshape(engines, kernels),
        registers=ADDRESSES,
        contention=Hc2().contention,
    )
    assert traffic.entries.tolist() == [len(range(k, 37, engines * kernels)) for k in range(engines * kernels)]
    assert traffic.edges.tolist() == edges
    assert traffic.pushes.tolist() == pushes.tolist()
    for engine in range(engines):
        own = Counter(link(a) for kernel in reads[engine * kernels : (engine + 1) * kernels] for a in kernel)
        assert traffic.read_links[engine].tolist() == [own[number] for number in range(16)]
    written = Counter(map(link, writes))
    assert traffic.write_links.tolist() == [written[number] for number in range(16)]
    everywhere = Counter(bank(a) for a in [*writes, *(a for own in reads for a in own)])
    assert traffic.banks.tolist() == [everywhere[number] for number in range(1024)]
    assert traffic.requests == issued.sum()


@pytest.mark.parametrize(("start", "degree"), [(8, 3), (2**32 - 1, 1), (0, 2**31 - 1)])
def test_words_with_neighbours_that_the_graph_has_not(start: int, degree: int) -> None:
    words = [graph_word(7, 3, visited=True), graph_word(start, degree, visited=True)]
    with refused(
        SimulationError,
        f"entry 1 of a frontier queue is {words[1]:#x}: the graph has no such neighbours, only 10 edges",
    ):
        LevelTraffic.count(
            queue=np.array(words, np.uint64),
            targets=np.zeros(10, np.uint32),
            reach=np.zeros(10, np.uint32),
            issued=np.array([[100]]),
            registers=ADDRESSES,
            contention=None,
        )
