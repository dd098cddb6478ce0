"""Synthetic graphs."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.host.graph import generators
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import gnm_graph, random_graph, rmat_graph, ssca2_graph
from cyscc.host.graph.kinds import KINDS, generate_graph
from cyscc.host.output.errors import InputError
from tests.refusals import refused

Generator = Callable[[int, int, int], Graph]
GENERATORS = [random_graph, rmat_graph, ssca2_graph]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_made_by_its_sizes(kind: str) -> None:
    given = {"vertices": 8, "degree": 3, "edges": 24, "seed": 5}
    steps: list[tuple[int, int]] = []
    sizes = {name: given[name] for name in KINDS[kind].sizes}
    graph = generate_graph(kind, on_step=lambda *done: steps.append(done), **sizes)
    same = getattr(generators, f"{kind}_graph")(*sizes.values())
    assert (graph.vertices, graph.edges, graph.targets.tolist()) == (8, 24, same.targets.tolist())
    assert all(done <= total == 24 for done, total in steps)


def sources(graph: Graph) -> NDArray[np.int64]:
    """Return the source of each edge."""
    return np.repeat(np.arange(graph.vertices), graph.out_degrees())


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize(("vertices", "degree"), [(2, 1), (8, 3), (4096, 16), (1, 0), (16, 0), (64, 200)])
def test_edges_are_exactly_as_many_as_asked_and_no_self_loops(generator: Generator, vertices: int, degree: int) -> None:
    graph = generator(vertices, degree, 3)
    assert (graph.vertices, graph.edges, graph.base, graph.ids) == (vertices, vertices * degree, 0, None)
    assert not (sources(graph) == graph.targets).any()
    assert (graph.targets < vertices).all()


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_seed_decides(generator: Generator) -> None:
    graphs = [generator(1 << 15, 16, seed) for seed in (5, 5, 6, 2**64 - 1)]
    assert (graphs[0].targets == graphs[1].targets).all()
    assert (graphs[0].offsets == graphs[1].offsets).all()
    assert (graphs[0].targets != graphs[2].targets).any()
    assert (graphs[0].targets != graphs[3].targets).any()


@pytest.mark.parametrize(
    ("generator", "first"),
    [
        (random_graph, [496, 327, 225, 195, 1008, 497, 181, 220]),
        (rmat_graph, [179, 864, 512, 578, 596, 112, 128, 133]),
        (ssca2_graph, [1, 0, 9, 9, 2, 2, 2, 3]),
    ],
)
def test_a_seed_gives_the_same_graph_for_ever(generator: Generator, first: list[int]) -> None:
    assert generator(1 << 10, 8, 1).targets[:8].tolist() == first


def test_random_degrees_are_poisson() -> None:
    graph = random_graph(1 << 15, 16, 1)
    for degrees in (graph.out_degrees(), graph.transpose().out_degrees()):
        assert degrees.mean() == 16
        assert degrees.var() == pytest.approx(16, rel=0.05)


def test_random_ends_are_independent() -> None:
    graph = random_graph(7, 100_000, 1)
    table = np.zeros((7, 7))
    np.add.at(table, (sources(graph), graph.targets), 1)
    assert table[~np.eye(7, dtype=bool)] == pytest.approx(7 * 100_000 / 42, rel=0.04)


def test_rmat_first_halving_has_the_given_probabilities() -> None:
    graph = rmat_graph(1 << 15, 16, 1)
    half = graph.vertices // 2
    quadrants = np.bincount(2 * (sources(graph) >= half) + (graph.targets >= half), minlength=4) / graph.edges
    # Self-loops, which are redrawn, lie in the first and the last quadrant only, and are few.
    assert quadrants == pytest.approx([0.45, 0.15, 0.15, 0.25], abs=0.003)


def test_rmat_favours_b_more_with_each_halving() -> None:
    graph = rmat_graph(1 << 12, 256, 1)
    last = np.bincount(2 * (sources(graph) & 1) + (graph.targets & 1), minlength=4) / graph.edges
    # Eleven changes of b, each by 2.5 % on average, before scaling.
    growth = 1.025**11
    total = 0.85 + 0.15 * growth
    assert last == pytest.approx([0.45 / total, 0.15 * growth / total, 0.15 / total, 0.25 / total], abs=0.01)


@pytest.mark.parametrize(
    ("vertices", "degree", "largest"), [(1 << 12, 16, 12), (1 << 12, 64, 16), (500, 64, 7), (1 << 9, 2, 1)]
)
def test_ssca2_cliques(vertices: int, degree: int, largest: int) -> None:
    graph = ssca2_graph(vertices, degree, 1)
    steps = (graph.targets.astype(np.int64) - sources(graph)) % vertices
    # Only a clique's edges go back or by other steps than powers of two, and no further than its size.
    inside = (steps & (steps - 1)) != 0
    reach = np.minimum(steps, vertices - steps)[inside]
    assert reach.max(initial=0) == (largest - 1 if largest > 1 else 0)


def test_ssca2_edges_are_parallel_up_to_three_times() -> None:
    graph = ssca2_graph(1 << 12, 8, 1)
    pairs, times = np.unique(sources(graph) * graph.vertices + graph.targets, return_counts=True)
    inside = (graph.vertices + pairs // graph.vertices - pairs % graph.vertices) % graph.vertices
    backward = (inside > 0) & (inside < 6)
    assert np.bincount(times[backward])[1:] / backward.sum() == pytest.approx([1 / 3] * 3, abs=0.03)


@pytest.mark.parametrize(("vertices", "edges"), [(1, 0), (2, 1), (7, 42), (30, 800), (100_000, 1_000), (5_000, 60_000)])
def test_exact_edges_are_all_different(vertices: int, edges: int) -> None:
    graph = gnm_graph(vertices, edges, 3)
    pairs = sources(graph) * vertices + graph.targets
    assert (graph.vertices, graph.edges, np.unique(pairs).size) == (vertices, edges, edges)
    assert not (sources(graph) == graph.targets).any()
    assert (graph.targets < vertices).all()
    assert (graph.targets == gnm_graph(vertices, edges, 3).targets).all()


def test_every_set_of_edges_is_alike() -> None:
    # Of the 6 edges that 3 vertices can have any two: 15 sets.
    drawn = [gnm_graph(3, 2, seed) for seed in range(750)]
    sets, times = np.unique([sorted(sources(graph) * 3 + graph.targets) for graph in drawn], axis=0, return_counts=True)
    assert len(sets) == 15
    assert ((times - 50) ** 2 / 50).sum() < 36.1  # of 14 degrees of freedom, passed by one in a thousand


@pytest.mark.parametrize(
    ("generator", "arguments", "message"),
    [
        (random_graph, (0, 4, 0), "a graph needs at least one vertex, not 0"),
        (random_graph, (4, -1, 0), "the degree must not be negative, not -1"),
        (random_graph, (4, 1, -1), "the seed must be 0 to 18446744073709551615, not -1"),
        (random_graph, (4, 1, 2**64), "the seed must be 0 to 18446744073709551615, not 18446744073709551616"),
        (random_graph, (2**32 - 1, 0, 0), "4294967295 vertices are too many for 32 bits (at most 4294967294)"),
        (rmat_graph, (2**30, 4, 0), "4294967296 edges are too many for 32 bits (at most 4294967295)"),
        (gnm_graph, (0, 0, 0), "a graph needs at least one vertex, not 0"),
        (gnm_graph, (4, -1, 0), "the number of edges must not be negative, not -1"),
        (gnm_graph, (4, 1, -1), "the seed must be 0 to 18446744073709551615, not -1"),
    ],
)
def test_what_cannot_be_made_is_refused(generator: Generator, arguments: tuple[int, int, int], message: str) -> None:
    with refused(InputError, message):
        generator(*arguments)
