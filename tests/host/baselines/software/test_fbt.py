"""Forward-backward search with trimming: its launches and counts, its additions, regions, and its layout."""

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.primitives import upload
from cyscc.host.baselines.devices.steps import ORDERS, Device, Order
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.fbt.algorithm import decompose_regions
from cyscc.host.baselines.software.fbt.layout import MOST, PADDING, lay_out
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import canonical, check_components, strong_components
from cyscc.host.output.errors import InputError
from tests.host.baselines.software.cases import CONFIGURATIONS, PRINTED, Options, decompose
from tests.host.baselines.software.graphs import cycles, layered
from tests.system.graphs import graph_of, messy_graph


def counts_of(graph: Graph, options: Options = PRINTED, device: Device | None = None) -> dict[str, int]:
    return dict(decompose("fbt", graph, device, options).counts)


def test_counts_of_a_cycle() -> None:
    # Trimmed in one round that finds nothing, of an edge each way; one pivot; after it another such round.
    counts = counts_of(graph_of(40, cycles(list(range(40)))))
    assert counts["rounds"] == counts["pivots"] == 1
    assert counts["trimming_rounds"] == 2
    # In ascending order the whole cycle is reached in one scan forwards; backwards 0 and 39, then a state a scan.
    assert counts["search_iterations"] == 39
    assert counts["passes"] == 2 + 39 + 2 * 2 + 1
    assert counts["edges"] == 2 * 40 + 2 * 40


def test_searches_look_at_each_edge_once() -> None:
    graph = graph_of(600, cycles(list(range(600)), list(range(0, 600, 7)), list(range(0, 600, 3))))
    for order in ("natural", "reversed"):
        with open_device("cpu", order=Order(order)) as device:
            for options in CONFIGURATIONS.values():
                counts = counts_of(graph, {**PRINTED, **options}, device)
                assert counts["edges"] == 2 * graph.edges + 2 * graph.vertices


def test_iterations_of_a_launch_and_separate_launches() -> None:
    # Backwards in ascending order: one state is found in an iteration, but two in the first one.
    graph = graph_of(40, cycles(list(range(40))))
    assert counts_of(graph, {**PRINTED, "cached": 4})["search_iterations"] == 10
    assert counts_of(graph, {**PRINTED, "cached": 1})["search_iterations"] == 39
    with open_device("cpu") as device:
        launches = []
        for options in ({}, {"no-hybrid": 1}):
            before = device.launches
            counts_of(graph, {**PRINTED, **options}, device)
            launches.append(device.launches - before)
    # The forward search has found all in its first iteration; in the second one it sees that nothing follows.
    assert 1 <= launches[1] - launches[0] <= 2


def test_self_loops_keep_no_state_from_being_trimmed() -> None:
    pairs = [(v, v) for v in range(50)] + [(v, v + 1) for v in range(49)]
    counts = counts_of(graph_of(50, pairs))
    assert counts["pivots"] == counts["rounds"] == counts["search_iterations"] == 0


def test_few_transitions_serve_for_pivots_of_many_states() -> None:
    # Four transitions, and hashes up to 20,002: ranges in which there is none are left out.
    graph = graph_of(20_000, cycles([7, 19_999], [12_345, 12_346]))
    counts = counts_of(graph)
    assert counts["pivots"] == 2
    assert counts["passes"] < 30
    assert counts_of(graph_of(5, []))["pivots"] == 0
    # Several ranges in each of several rounds, and pivots that many states vie for.
    for order in ORDERS:
        with open_device("cpu", order=Order(order)) as device:
            lists = [[9 * c, 9 * c + 4, 9 * c + 7] for c in range(60)]
            links = [(9 * c, 9 * ((7 * c + 5) % 60) + 1) for c in range(60)]
            for options in ({}, PRINTED):
                counts = counts_of(graph_of(3000, [*cycles(*lists), *links]), options, device)
                assert counts["pivots"] == 60


def test_many_components_take_few_rounds() -> None:
    # As printed, a round finds one component for each region; most of these regions are never divided.
    pairs = graph_of(400, [*cycles(*([v, v + 1] for v in range(0, 400, 2)))])
    chain = graph_of(400, [*cycles(*([v, v + 1] for v in range(0, 400, 2))), *((v, v + 1) for v in range(1, 399, 2))])
    for order in ORDERS:
        with open_device("cpu", order=Order(order)) as device:
            for graph, rounds in ((pairs, 2), (chain, 16), (layered(10, 40, 1), 16)):
                assert counts_of(graph, {}, device)["rounds"] <= rounds
    assert counts_of(pairs)["rounds"] == 200


def test_the_first_pivot_is_a_hub() -> None:
    # In ascending order the first state would be of the first pair.
    ring = graph_of(60, [*cycles([0, 1], list(range(2, 60)), list(range(2, 60, 2))), (1, 2)])
    for options in ({}, {"segment": 2}):
        counts = counts_of(ring, options)
        assert counts["rounds"] == counts["pivots"] == 2
        # The larger cycle comes first: the search from a state of the pair would reach both.
        assert counts["edges"] < counts_of(ring, {**PRINTED, **options})["edges"]


def test_a_long_cycle_takes_few_launches() -> None:
    graph = graph_of(5000, cycles(list(range(5000))))
    assert counts_of(graph, {})["passes"] < 200


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
