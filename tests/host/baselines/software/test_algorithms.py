"""The software algorithms find scipy's components: in every variant, in every order, with any number of threads."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle, pairwise

import numpy as np
import pytest
from numba.core import event

from cyscc.host.baselines.algorithms import AS_PRINTED, KINDS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import ORDERS, Order
from cyscc.host.baselines.software.decomposition import (
    Decomposition,
    SoftwareRun,
    SoftwareSetting,
    peer_runs,
    run_software,
)
from cyscc.host.baselines.software.kosaraju import PHASES
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph, rmat_graph
from tests.conftest import Pins
from tests.host.baselines.devices.simulator import simulate
from tests.host.baselines.software.cases import (
    CASES,
    VARIANTS,
    acyclic_rings,
    chain_of_rings,
    cycles,
    decompose,
    lattice,
    layered,
    rings,
)
from tests.system.graphs import GRAPHS, graph_of, messy_graph

WAYS = [
    pytest.param("hong", "natural", 5),
    *(
        pytest.param(case, order, threads, marks=pytest.mark.long if name in VARIANTS and order != own else ())
        for (case, (name, _)), own in zip(CASES.items(), cycle(ORDERS), strict=False)
        for order in (ORDERS if KINDS[name].devices else ORDERS[:1])
        for threads in ((1, 3) if KINDS[name].threads else (1,))
    ),
]
"""Of an algorithm in several variants each takes one order in the short run, and the next variant the next order."""
SEQUENTIAL = [case for case, (name, _) in CASES.items() if not KINDS[name].threads]
STEPS = [case for case, (name, _) in CASES.items() if KINDS[name].devices]
every_case = pytest.mark.parametrize("case", CASES)

RANDOM = 12
"""Random graphs of each way: some two thousand all in all."""

LARGER = {
    "sparse": messy_graph(20_000, 30_000, 1),
    "messy": messy_graph(20_000, 120_000, 6),
    "dense": random_graph(1 << 13, 8, 3),
    "R-MAT": rmat_graph(1 << 13, 4, 3),
    "chain": chain_of_rings(1500),
    "acyclic": acyclic_rings(2000, 2),
    "lattice": lattice(60),
}
"""More vertices than a thread takes at a time, so that several run at once."""
GIANT = {"messy": messy_graph(12_000, 40_000, 2), "R-MAT": rmat_graph(1 << 12, 6, 3)}
"""For the schemes as printed, which take a round for each small component."""
COUNTED = {
    **{name: GRAPHS[name] for name in ("cycle", "cycle backwards", "self-loops", "repeated edges", "two hubs")},
    "acyclic": acyclic_rings(150, 2),
    "chain": chain_of_rings(60),
    "chords": graph_of(600, cycles(list(range(600)), list(range(0, 600, 7)), list(range(0, 600, 3)))),
    "lattice": lattice(24),
    "layered": layered(8, 6, 1),
    "messy": messy_graph(300, 700, 2),
    "pairs around a core": graph_of(
        30, [*cycles([0, 1, 2], [0, 3, 4], [6, 7], [28, 29]), (0, 6), *pairwise(range(7, 29))]
    ),
    "sparse": graph_of(20_000, cycles([7, 19_999], [12_345, 12_346])),
    "unlinked": rings(80, []),
}
"""Graphs of which each takes other ways."""
LONG = {"long cycle": graph_of(3000, cycles(list(range(3000))))}
"""As printed, the schemes take a launch for each of its vertices."""


@pytest.mark.parametrize(("case", "order", "threads"), WAYS)
def test_awkward_graphs_and_random_ones(case: str, order: str, threads: int) -> None:
    algorithm, options = CASES[case]
    first = RANDOM * [way.values for way in WAYS].index((case, order, threads))
    with open_device("cpu", threads=threads, order=Order(order, seed=2)) as device:
        for name, graph in GRAPHS.items():
            decompose(algorithm, graph, device, options, name=name)
        for seed in range(first, first + RANDOM):
            size = seed % 100
            graph = messy_graph(20 + size, (10 + size) * (1 + seed % 4), seed)
            decompose(algorithm, graph, device, options, seed=seed, name=f"seed {seed}")


@pytest.mark.parametrize(
    ("case", "order", "threads"), [way for way in WAYS if 3 in way.values or way.values[0] in SEQUENTIAL]
)
def test_threads_that_race(case: str, order: str, threads: int) -> None:
    algorithm, options = CASES[case]
    with open_device("cpu", threads=threads, order=Order(order)) as device:
        for name, graph in (GIANT if AS_PRINTED in options or options.get("sources") else LARGER).items():
            decompose(algorithm, graph, device, options, name=name)


def check_simulated() -> None:
    """Each variant in an order, and what takes all ways: lists beyond a block, colours, layers."""
    star = [pair for leaf in range(1, 10) for pair in ((0, leaf), (leaf, 0))]
    random = np.random.default_rng(2).integers(10, 20, (50, 2)).tolist()
    fans = rings(16, [(ring, 8 + (ring + other) % 8) for ring in range(8) for other in (0, 1)])
    special = {
        "li": graph_of(20, [*star, *map(tuple, random)]),
        "multipartition": fans,
        "quach": messy_graph(33, 66, 2),
        "fbt F3,7": layered(8, 3, 1),
    }
    for place, order in enumerate(ORDERS):
        with open_device("cuda", order=Order(order, seed=place)) as device:
            for number, case in enumerate(STEPS):
                algorithm, options = CASES[case]
                if number % len(ORDERS) == place:
                    decompose(algorithm, messy_graph(12, 20, number), device, options, seed=number, name=case)
                if case in special:
                    decompose(algorithm, special[case], device, options, name=case)
            assert decompose("multipartition", fans, device).counts["colour_rounds"] > 0


def test_on_the_simulator() -> None:
    simulate(check_simulated)


@every_case
def test_counts_are_as_pinned(case: str, pins: Pins) -> None:
    """One thread repeats its results, and looks at no edge and takes no launch more than it did."""
    algorithm, options = CASES[case]
    found = {}
    for name, graph in {**COUNTED, **({} if AS_PRINTED in options else LONG)}.items():
        with open_device("cpu") as device:
            counts = decompose(algorithm, graph, device, options, seed=3, name=name).counts
        found[name] = ", ".join(f"{count} {value}" for count, value in {**counts, "launches": device.launches}.items())
    pins.check(case, found)
    if KINDS[algorithm].seeded and options.get("sources") != 0:
        graph = COUNTED["acyclic"]
        seeds = [decompose(algorithm, graph, options=options, seed=seed).counts for seed in (3, 4)]
        assert seeds[0] != seeds[1]


@every_case
def test_a_second_run_compiles_nothing(case: str) -> None:
    algorithm, options = CASES[case]
    small = graph_of(2, [(0, 1)])
    for order in ("natural", "shuffled") if case in STEPS else ("natural",):
        with open_device("cpu", threads=2, order=Order(order)) as device:
            run_software(algorithm, small, small.transpose(), SoftwareSetting(device=device, options=options))
            with event.install_recorder("numba:compile") as recorder:
                for graph in (messy_graph(4_000, 7_000, 2), chain_of_rings(200), acyclic_rings(300, 2)):
                    decompose(algorithm, graph, device, options)
        assert recorder.buffer == []


@pytest.mark.parametrize("case", STEPS)
def test_progress_is_told(case: str) -> None:
    algorithm, options = CASES[case]
    # All but ten vertices, which trimming finds, are in pairs.
    graph = graph_of(900, [(v, v ^ 1) for v in range(890)])
    told: list[tuple[int, int]] = []
    with open_device("cpu") as device:
        watch = SoftwareSetting(device=device, watch=lambda *each: told.append(each), options=options)
        KINDS[algorithm].load()(graph, graph.transpose(), watch)
    assert told == sorted(told)
    assert {total for _, total in told} == {900}
    if algorithm != "li":
        assert told[0][0] == 10
    # As printed quach tells it after some rounds.
    if case == "quach 2 pivots as printed" or algorithm != "quach":
        assert told[-1][0] > 700


@pytest.mark.parametrize("algorithm", KINDS)
def test_long_chains_take_neither_a_deep_stack_nor_long(algorithm: str) -> None:
    vertices = np.arange(8000, dtype=np.uint32)
    decompose(algorithm, Graph.from_edges(8000, vertices[:-1].copy(), vertices[1:].copy()))


@pytest.mark.parametrize("algorithm", ["kosaraju", "hong"])
def test_long_searches_take_no_time_of_their_own(algorithm: str) -> None:
    # A level of one vertex each; and starts each of which reaches all that follow, or is reached from all before.
    vertices = np.arange(100_000, dtype=np.uint32)
    cycle = Graph.from_edges(100_000, vertices, np.roll(vertices, -1))
    shuffled = np.random.default_rng(1).permutation(vertices)
    path = Graph.from_edges(100_000, shuffled[:-1], shuffled[1:])
    begin = time.process_time()
    for graph in (cycle, path):
        decompose(algorithm, graph)
    assert time.process_time() - begin < 5


def test_phases_are_those_of_the_whole() -> None:
    # The last graph is a cycle: long searches, one intersection, and a start that is found at once but for the last.
    vertices = np.arange(200_000, dtype=np.uint32)
    cycle = Graph.from_edges(200_000, vertices, np.roll(vertices, 1))
    for graph in (*GRAPHS.values(), *(messy_graph(1 + seed % 30, seed, seed) for seed in range(60)), cycle):
        timed, whole = (decompose("kosaraju", graph, options={"phases": phases}) for phases in (True, False))
        assert (timed.labels.tolist(), timed.counts) == (whole.labels.tolist(), whole.counts)
        assert set(timed.phases) == set(PHASES)
        assert min(timed.phases.values()) >= 0
        assert not whole.phases
    assert timed.phases["searches"] > timed.phases["intersections"] > 0


@pytest.mark.parametrize("algorithm", ["kosaraju", "hong"])
def test_threads_look_at_about_as_many_edges(algorithm: str) -> None:
    edges = decompose(algorithm, LARGER["sparse"]).counts["edges"]
    assert edges > 30_000
    # Searches and trims side by side look at about as many.
    with open_device("cpu", threads=3) as device:
        assert decompose(algorithm, LARGER["sparse"], device).counts["edges"] == pytest.approx(edges, rel=0.2)


def test_many_parts_are_shared_by_the_threads() -> None:
    # Cycles of three that lead into each other, in an order that puts none of them into the pivot's component.
    graph = rings(15_000, [(c, (c + 7) % 15_000) for c in range(14_000)])
    with open_device("cpu", threads=4) as device:
        decompose("hong", graph, device)


def run(algorithm: str, graph: Graph, transpose: Graph, threads: int) -> SoftwareRun[Decomposition]:
    if algorithm not in KINDS:
        return peer_runs(algorithm, graph, threads=threads)()
    with open_device("cpu", threads=threads) as device:
        return run_software(algorithm, graph, transpose, SoftwareSetting(device=device))


def test_algorithms_use_the_threads_that_they_say() -> None:
    graph = messy_graph(20, 40, 1)
    runs = {name: run(name, graph, graph.transpose(), 3) for name in KINDS}
    assert all(each.algorithm == name and each.device == "cpu" and each.seconds > 0 for name, each in runs.items())
    used = {name: each.threads for name, each in runs.items()}
    assert used == {name: 3 if kind.threads else 1 for name, kind in KINDS.items()}
    assert {name for name, threads in used.items() if threads == 1} == {"kosaraju", "tarjan"}


def two_cores_are_free() -> bool:
    """Return whether two threads take about as long as one for the same work."""
    graph = rmat_graph(1 << 20, 16, 1)
    work = partial(run, "tarjan", graph, graph.transpose(), 1)

    def elapsed(count: int) -> float:
        with ThreadPoolExecutor(count) as pool:
            begin = time.perf_counter()
            for future in [pool.submit(work) for _ in range(count)]:
                future.result()
            return time.perf_counter() - begin

    work()
    return elapsed(2) <= 1.4 * elapsed(1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("generate", "vertices", "degree", "faster", "factor", "slower"),
    [
        # Where a component is giant hong is faster on one thread already: a core that others use does not matter.
        (random_graph, 1 << 20, 16, "hong", 1, "kosaraju"),
        (rmat_graph, 1 << 20, 16, "hong", 1, "kosaraju"),
        (random_graph, 1 << 20, 12, "li", 3, "hong"),
        (rmat_graph, 1 << 18, 5, "li", 3, "hong"),
        (random_graph, 1 << 20, 12, "multipartition", 1, "scipy"),
        (rmat_graph, 1 << 20, 12, "multipartition", 1, "scipy"),
        (random_graph, 1 << 20, 12, "multipartition", 3, "hong"),
        (rmat_graph, 1 << 20, 12, "multipartition", 3, "hong"),
    ],
)
def test_speed(
    generate: Callable[[int, int, int], Graph], vertices: int, degree: int, faster: str, factor: int, slower: str
) -> None:
    if (generate, faster) == (rmat_graph, "hong") and not two_cores_are_free():
        pytest.skip("two cores are not free")
    graph = generate(vertices, degree, 1)
    transpose = graph.transpose()
    seconds: dict[str, list[float]] = {faster: [], slower: []}
    for _ in range(5):
        for name, times in seconds.items():
            times.append(run(name, graph, transpose, 2).seconds)
    assert min(seconds[faster]) < factor * min(seconds[slower])
