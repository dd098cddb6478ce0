"""Forward-backward search with trimming: its regions and layout, and its repairs, without each of which it fails.

Steps run as what they are, plain Python, from sources in which one line is as the text has it.
"""

import inspect
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.cpu import CpuDevice
from cyscc.host.baselines.devices.primitives import upload
from cyscc.host.baselines.devices.steps import ORDERS, BlockStep, Device, Order, Step
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.fbt import algorithm
from cyscc.host.baselines.software.fbt import schemes as module
from cyscc.host.baselines.software.fbt.algorithm import decompose_regions, fbt
from cyscc.host.baselines.software.fbt.layout import MOST, PADDING, lay_out
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import canonical, check_components, strong_components
from cyscc.host.output.errors import InputError
from tests.host.baselines.software.cases import CONFIGURATIONS, PRINTED, Options, cycles
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


def within(regions: list[int] | NDArray[np.int64], graph: Graph, device: Device, options: Options) -> Decomposition:
    setting, given = SoftwareSetting(device=device, options=options), np.array(regions, np.int64)
    found = decompose_regions(upload(device, graph), upload(device, graph.transpose()), setting, device.array(given))
    assert check_components(canonical(device.read(found.labels)), graph) is None
    return found


def test_hashes_that_coincide_make_one_region_and_no_wrong_component() -> None:
    # Pivots 0 and 1, as the first of their regions in ascending order. 2 and 3 are then reached backwards from 0, and 6
    # and 7 not at all from 1: hashes 0 + 1 and 1 + 0. With an edge between them they are still two components.
    graph = graph_of(8, [*cycles([0, 4], [2, 3], [1, 5], [6, 7]), (3, 0), (3, 6)])
    with open_device("cpu") as device:
        counts = within([0, 1, 0, 0, 0, 1, 1, 1], graph, device, PRINTED).counts
    # Were they two regions, the second round would have two pivots and be the last.
    assert (counts["pivots"], counts["rounds"]) == (4, 3)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_within_regions(name: str) -> None:
    for seed, order in enumerate([*ORDERS] * 4):
        graph = messy_graph(200, 360 + 20 * seed, seed)
        # Components that lead to each other may share a region.
        regions = strong_components(graph) // (1 + 7 * (seed % 3))
        with open_device("cpu", threads=2, order=Order(order)) as device:
            within(regions.astype(np.int64), graph, device, {**CONFIGURATIONS[name], "as-printed": seed % 2})


def test_the_graph_itself_is_not_written_to() -> None:
    graph = messy_graph(50, 150, 1)
    targets = graph.targets.copy()
    with open_device("cpu") as device:
        layout = lay_out(device, upload(device, graph), upload(device, graph.transpose()), 0)
        layout.forward.trans[:] = -1
        layout.forward.offsets[:] = -1
    assert np.array_equal(graph.targets, targets)
    assert graph.offsets[0] == 0


def test_segments() -> None:
    # 40 states of two transitions, of which 32 fill a segment; others have one, none, or five.
    pairs = [(v, w) for v in range(0, 80, 2) for w in (v + 1, 79)] + [(1, 0), *((5, w) for w in range(5))]
    graph = graph_of(80, pairs)
    with open_device("cpu") as device:
        given = upload(device, graph), upload(device, graph.transpose())
        layout = lay_out(device, *given, 3)
        # All but state 5 have at most three.
        assert layout.forward.segmented == 64
        assert sorted(layout.names) == list(range(80))
        assert layout.names[:6].tolist() == [0, 1, 2, 3, 4, 6]
        assert layout.names[64:].tolist() == [5, *range(65, 80)]
        assert layout.places == 64 * 3 + 5 + 14
        trans = device.read(layout.forward.trans)
        first = trans[: 32 * 3].reshape(3, 32)
        assert layout.names[first[0, 0]] == 1
        assert layout.names[first[0, 1]] == 0
        assert layout.names[first[1, 0]] == 79
        assert (first[1:, 1] == PADDING).all()
        assert (first[2] == PADDING).all()
        # Without, nothing is moved.
        assert lay_out(device, *given, 1).names.tolist() == list(range(80))


def test_graphs_that_29_bits_have_no_room_for() -> None:
    # The arrays are of one element each, looked at from many sides: no memory is taken.
    zeros = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint32), (MOST + 1,), (0,))

    class Large:
        vertices, edges = 1, MOST + 1
        offsets, targets = np.array([0, MOST + 1]), zeros

    with (
        open_device("cpu") as device,
        pytest.raises(
            InputError,
            match=r"^fbt takes at most 536870911 states and as many transitions, padding included, not 1 and ",
        ),
    ):
        lay_out(device, Large(), Large(), 0)  # type: ignore[arg-type]  # all that is looked at before it refuses
    wide = graph_of(64, [(v, v) for v in range(64)])
    for segment in (10_000_000, 2**58, 2**64):
        with open_device("cpu") as device, pytest.raises(InputError, match=rf"not 64 and {64 * segment}$"):
            lay_out(device, upload(device, wide), upload(device, wide), segment)
