"""Repairs of the published forward-backward search with trimming: without each of them it fails.

Steps run as what they are, plain Python, from sources in which one line is as the text has it.
"""

import inspect
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cyscc.host.baselines.devices.cpu import CpuDevice
from cyscc.host.baselines.devices.steps import BlockStep, Order, Step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.fbt import algorithm
from cyscc.host.baselines.software.fbt import schemes as module
from cyscc.host.baselines.software.fbt.algorithm import fbt
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import canonical, check_components
from tests.host.baselines.software.graphs import cycles
from tests.system.graphs import graph_of, messy_graph

BLOCK = 8
MOST_LAUNCHES = 400


class EndlessError(Exception):
    """There are more launches than there is use for."""


class Interpreted(CpuDevice):
    """A device that runs steps as Python, in blocks of a few threads."""

    def __init__(self, order: str) -> None:
        super().__init__(threads=1, order=Order(order))
        self.block = BLOCK

    def _threads(self, count: int) -> list[int]:
        if self.launches > MOST_LAUNCHES:
            raise EndlessError
        order = self._order.permutation(count, self.launches)
        return order.tolist() if order.size else list(range(count))

    def _run(self, step: Step, threads: int, arguments: tuple[Any, ...]) -> None:
        for thread in self._threads(threads):
            step.function(thread, *arguments)

    def _run_blocks(self, step: BlockStep, blocks: int, size: int, phases: int, arguments: tuple[Any, ...]) -> None:
        for block in self._threads(blocks):
            shared = np.full(size * step.words, 77, np.int32)
            for phase in range(phases):
                for thread in self._threads(size):
                    step.function(block, thread, size, phase, shared, *arguments)


def printed(ours: str, text: str) -> Any:
    """Return the scheme when a line of it is as the text has it."""
    source = inspect.getsource(module)
    assert source.count(ours) == 1
    names: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(source.replace(ours, text), module.__name__, "exec"), names)
    return names["Published"]


def without_barriers() -> BlockStep:
    """Return the cached search in which no thread waits for the others of its block between iterations."""
    own = module._search_cached

    def search(block: int, thread: int, threads: int, phase: int, shared: Any, iterations: int, *rest: Any) -> None:
        if phase == 0:
            own.function(block, thread, threads, 0, shared, iterations, *rest)
        if phase == 1:
            for each in range(1, iterations + 1):
                own.function(block, thread, threads, each, shared, iterations, *rest)

    return BlockStep(search, own.words)


def left_in_the_frontier() -> BlockStep:
    """Return the cached search in which states explored from the cache stay in the frontier."""
    own = module._search_cached

    def search(block: int, thread: int, threads: int, phase: int, shared: Any, *rest: Any) -> None:
        half = shared.size // 2
        taken = [state for state in shared[thread:half:threads] if state >= 0] if phase > 1 else []
        own.function(block, thread, threads, phase, shared, *rest)
        for state in taken:
            rest[1].forward.offsets[state] |= module._FRONTIER

    return BlockStep(search, own.words)


def right(graph: Graph, found: Decomposition) -> bool:
    return check_components(canonical(found.labels), graph) is None


def each_edge_once(graph: Graph, found: Decomposition) -> bool:
    return right(graph, found) and found.counts["edges"] == 2 * graph.edges + 2 * graph.vertices


def no_pivot(graph: Graph, found: Decomposition) -> bool:
    return right(graph, found) and found.counts["pivots"] == 0


def few_passes(graph: Graph, found: Decomposition) -> bool:
    return right(graph, found) and found.counts["passes"] < 20


def loops() -> Graph:
    return graph_of(30, [(v, v) for v in range(30)] + [(v, v + 1) for v in range(29)])


def hub() -> Graph:
    """Return a graph in which the states that overflow a cache are the only ones left to find.

    In ascending order the path from state 0 ends a launch at 114. In the next one that leads to 112, and from there to
    60 states, in blocks that have had their turn: to more than a cache has room for. Only state 40 leads further.
    """
    path = [(0, 119), *((v, v - 1) for v in range(119, 114, -1)), (114, 112)]
    many = [edge for v in range(1, 61) for edge in ((112, v), (v, 0))]
    return graph_of(120, [*path, *many, (40, 61), (61, 0)])


def sparse() -> Graph:
    """Return pairs of states anywhere, each of which leads to the next, with few transitions for many hashes."""
    states = np.random.default_rng(1).permutation(120)[:24].tolist()
    pairs = [states[place : place + 2] for place in range(0, 24, 2)]
    return graph_of(120, [*cycles(*pairs), *((before[0], after[0]) for before, after in pairwise(pairs))])


def ring() -> Graph:
    return graph_of(60, cycles(list(range(60)), list(range(0, 60, 7)), list(range(0, 60, 3))))


REPAIRS: dict[str, tuple[str, str, Callable[[], Graph], Mapping[str, int], Callable[..., bool]]] = {
    "algorithm 3, line 4: a state behind the segments is explored": (
        "transitions.offsets[state + 1] & MASK, 1",
        "transitions.offsets[state + 1] & MASK if transitions.segmented == 0 else first, 1",
        lambda: messy_graph(60, 120, 1),
        {"segment": 2},
        right,
    ),
    "algorithm 3, line 19: the region is the target's": (
        "results[target] & MASK == region",
        "results[place % results.size] & MASK == region",
        lambda: messy_graph(60, 100, 1),
        {},
        right,
    ),
    "algorithm 3, line 27: what a full cache has no room for": (
        "_EMPTY, target) == _EMPTY",
        "_EMPTY, target) >= _EMPTY",
        hub,
        {"cached": 3},
        right,
    ),
    "a state that has its region waits for none": (
        "info < 0 or info & _PENDING == 0",
        "info < 0 or (results[state] & MASK) + ((results[state] >> _SHIFT) & 3) < first",
        sparse,
        {},
        right,
    ),
    "a self-loop keeps no state": ("target != state and ", "", loops, {}, no_pivot),
    "ranges without a hash": (
        "following if following == _NO_HASH else following // length * length",
        "first + length if first + length < self._states + _BITS else _NO_HASH",
        lambda: graph_of(200, cycles([3, 190])),
        {},
        few_passes,
    ),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_without_a_repair(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, text, make, options, good = REPAIRS[name]
    graph = make()
    for scheme, repaired in ((module.Published, True), (printed(ours, text), False)):
        monkeypatch.setattr(algorithm, "Published", scheme)
        outcomes = [outcome(graph, order, options, good) for order in ("natural", "reversed", "shuffled")]
        assert all(outcomes) if repaired else not all(outcomes)


def outcome(graph: Graph, order: str, options: Mapping[str, int], good: Callable[..., bool]) -> bool:
    given = {"as-printed": True, **options}
    with Interpreted(order) as device:
        try:
            found = fbt(graph, graph.transpose(), SoftwareSetting(device=device, options=given))
        except EndlessError:
            return False
    return good(graph, found)


@pytest.mark.parametrize(
    ("variant", "good"), [(without_barriers, right), (left_in_the_frontier, each_edge_once)], ids=["barriers", "marks"]
)
def test_the_cached_search_without_a_repair(
    variant: Callable[[], BlockStep], good: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = ring()
    assert all(outcome(graph, order, {"cached": 3}, good) for order in ("natural", "reversed", "shuffled"))
    monkeypatch.setattr(module, "_search_cached", variant())
    assert not all(outcome(graph, order, {"cached": 3}, good) for order in ("natural", "reversed", "shuffled"))
