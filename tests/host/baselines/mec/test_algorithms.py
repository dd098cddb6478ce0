"""Both algorithms find the maximal end components, in every order of threads, and count the same rounds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numba.core import event
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from cyscc.host.baselines.algorithms import MEC_KINDS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.cpu import CpuDevice
from cyscc.host.baselines.devices.primitives import DeviceGraph
from cyscc.host.baselines.devices.steps import ORDERS, Order
from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import MecDecomposition, run_mec
from cyscc.host.baselines.mec.checker import check_mecs
from cyscc.host.baselines.mec.parallel import connected_parts, parallel, upload_mdp
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.baselines.software.fbt.algorithm import decompose_regions
from cyscc.host.baselines.software.tarjan import tarjan
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import canonical
from cyscc.host.output.errors import InputError
from tests.host.baselines.devices.simulator import simulate
from tests.host.baselines.mdp.models import SMALL, model
from tests.refusals import refused

WAYS = [("basic", "natural", 1), *(("parallel", order, threads) for order in ORDERS for threads in (1, 3))]


def find(mdp: Mdp, algorithm: str, order: str = "natural", threads: int = 1, seed: int = 0) -> MecDecomposition:
    with open_device("cpu", threads=threads, order=Order(order, seed=seed)) as device:
        found: MecDecomposition = MEC_KINDS[algorithm].load()(mdp, SoftwareSetting(device=device))
        return found


@pytest.mark.parametrize(("algorithm", "order", "threads"), WAYS)
def test_small_models(algorithm: str, order: str, threads: int) -> None:
    for mdp, expected in SMALL.values():
        found = find(mdp, algorithm, order, threads)
        assert found.mecs.tolist() == expected
        assert found.mecs.dtype == np.int64


def sparse(seed: int) -> Mdp:
    """Return a random model of one to sixty states with few choices, most of them of one target near by."""
    random = np.random.default_rng(seed)
    states = int(random.integers(1, 61))
    reach = int(random.integers(1, 9))
    return model(
        *(
            [
                [int(target) % states for target in state + random.integers(-reach, reach + 1, random.integers(1, 3))]
                for _ in range(random.integers(1, 4))
            ]
            for state in range(states)
        )
    )


@pytest.mark.parametrize("half", [0, 1])
def test_random_models(half: int) -> None:
    several = 0
    with open_device("cpu", order=Order(ORDERS[1 + half], seed=half)) as device:
        for seed in range(half * 500, half * 500 + 500):
            mdp = (
                sparse(seed)
                if seed % 2
                else family("random", states=1 + seed % 90, choices=1 + seed % 3, transitions=1 + seed % 4, seed=seed)
            )
            found = find(mdp, "basic")
            assert check_mecs(mdp, found.mecs) is None
            several += len(found.rounds) > 1
            if seed % 5 == 0:
                also = parallel(mdp, SoftwareSetting(device=device))
                assert np.array_equal(also.mecs, found.mecs)
                assert also.rounds == found.rounds
    assert several > 100


@pytest.mark.parametrize(("order", "threads"), [way[1:] for way in WAYS[1:]])
@pytest.mark.parametrize(
    "make",
    [
        lambda: family("random", states=20_000, choices=2, transitions=2, seed=3),
        lambda: family("random", states=9_000, choices=3, transitions=1, seed=4),
    ],
    ids=["two targets", "one target"],
)
def test_larger_models(make: Callable[[], Mdp], order: str, threads: int) -> None:
    mdp = make()
    expected = find(mdp, "basic")
    assert check_mecs(mdp, expected.mecs) is None
    found = find(mdp, "parallel", order, threads, seed=1)
    assert np.array_equal(found.mecs, expected.mecs)
    assert found.rounds == expected.rounds


def check_models() -> None:
    # Two rounds, attractors, a component that is closed at once, regions.
    mdp = model([[0], [1, 4]], [[1], [0, 4]], [[3]], [[2], [0, 3]], [[4]], [[6]], [[5, 0]])
    small, expected = SMALL["a leak that takes others along"]
    for order in ORDERS:
        with open_device("cuda", order=Order(order, seed=2)) as device:
            setting = SoftwareSetting(device=device)
            found = parallel(mdp, setting)
            assert parallel(small, setting).mecs.tolist() == expected
        assert found.mecs.tolist() == [0, 1, 2, 2, 4, -1, -1]
        assert len(found.rounds) == 2


def test_on_the_simulator() -> None:
    simulate(check_models)


def by_tarjan(given: DeviceGraph, _: Any, __: Any, ___: Any) -> Decomposition:
    labels = tarjan(Graph(offsets=given.offsets, targets=given.targets.view(np.uint32))).labels
    return Decomposition(labels=labels.astype(np.int32), counts={"edges": 1_000_000})


def test_an_attractor_like_a_chain_takes_few_launches() -> None:
    # A ring whose last state may leave: the ring is one component, and every state of it is lost one by the next.
    size = 5_000
    ring = model(*([[state + 1]] for state in range(size - 1)), [[0, size]], [[size]])
    with open_device("cpu") as device:
        found = parallel(ring, SoftwareSetting(device=device), by_tarjan)
    assert found.mecs.tolist() == [-1] * size + [size]
    assert found.rounds == find(ring, "basic").rounds
    assert found.rounds[0].removed == size
    # One launch follows the chain, one ends the round. Edges: what the search counts, the scan, the edges to the ring.
    assert found.counts == {"edges": 1_000_000 + ring.transition_count + size, "passes": 2}


def test_the_regions_are_parts_that_no_choice_joins() -> None:
    seen: list[list[int] | None] = []

    def components(graph: Any, transpose: Any, setting: SoftwareSetting, regions: Any) -> Decomposition:
        seen.append(None if regions is None else regions.tolist())
        return by_tarjan(graph, transpose, setting, regions)

    # States 0 to 3 are a ring that chance closes; then there are two pairs. State 4 is by itself.
    mdp = model([[1], [2, 4]], [[0]], [[3]], [[2], [0, 4]], [[4]])
    with open_device("cpu") as device:
        assert parallel(mdp, SoftwareSetting(device=device), components).mecs.tolist() == [0, 0, 2, 2, 4]
    first, second = seen
    assert first is None
    assert second is not None
    assert canonical(np.array(second)).tolist() == [0, 0, 2, 2]


def test_many_small_parts_are_searched_at_once() -> None:
    mdp = family("islands", islands=300)

    def one_region(graph: Any, transpose: Any, setting: SoftwareSetting, _: Any) -> Decomposition:
        return decompose_regions(graph, transpose, replace(setting, options={"as-printed": True}), None)

    with open_device("cpu") as device:
        found = parallel(mdp, SoftwareSetting(device=device))
        in_one = parallel(mdp, SoftwareSetting(device=device), one_region).counts["passes"]
    assert len(found.rounds) == 2
    assert found.rounds[1].mecs == 300
    assert found.counts["passes"] < 60
    # As in the text, in which the one component of the first round is the one region of the second.
    assert in_one > 3 * 300


class Counting(CpuDevice):
    """The processor, which notes the sizes of arrays that are copied to the device and back, and of other transfers."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.copied: list[int] = []
        self.read_back: list[int] = []

    def array(self, values: NDArray[Any]) -> Any:
        self.copied.append(values.nbytes)
        return super().array(values)

    def read(self, array: Any) -> NDArray[Any]:
        self.read_back.append(array.nbytes)
        return super().read(array)


@pytest.mark.parametrize("options", [{}, {"segment": 7}, {"as-printed": True}])
def test_only_counters_come_to_the_host(options: dict[str, Any]) -> None:
    mdp = family("islands", islands=3000)
    device = Counting()
    found = parallel(mdp, SoftwareSetting(device=device, options=options))
    assert len(found.rounds) == 2
    # The model, and the ids of its states.
    arrays = (mdp.choices, mdp.transitions, mdp.targets)
    assert device.copied == [*(array.nbytes for array in arrays), 4 * mdp.states]
    *counters, result = device.read_back
    assert result == 4 * mdp.states
    assert max(counters) <= 8 * 1024


@pytest.mark.parametrize(("order", "threads"), [way[1:] for way in WAYS[1:]])
def test_parts_are_scipys(order: str, threads: int) -> None:
    mdp = family("random", states=30_000, choices=1, transitions=1, seed=2)
    with open_device("cpu", threads=threads, order=Order(order)) as device:
        parts = connected_parts(device, upload_mdp(device, mdp), np.arange(mdp.states, dtype=np.int32))
    arrays = np.ones(mdp.states), mdp.targets.astype(np.int32), mdp.transitions
    matrix = csr_array(arrays, shape=(mdp.states, mdp.states))
    count, labels = connected_components(matrix, connection="weak")
    assert count > 1
    assert np.array_equal(parts[parts], parts), "named by one of its states"
    assert np.array_equal(canonical(parts), canonical(labels))


@pytest.mark.parametrize("algorithm", MEC_KINDS)
def test_models_with_nothing_to_find(algorithm: str) -> None:
    nothing = find(model(), algorithm)
    assert nothing.mecs.tolist() == []
    assert nothing.rounds == ()
    # A model that no reader lets through: a state without a choice is in no maximal end component.
    assert find(model([], [[0, 1]], [[2]]), algorithm).mecs.tolist() == [-1, -1, 2]


def test_too_large_a_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.baselines.mec.parallel._MOST", 6)
    with refused(InputError, "algorithms made of steps take at most 6 states, choices and transitions"):
        find(SMALL["two that leak"][0], "parallel")
    assert find(SMALL["a pair that cannot be left"][0], "parallel").mecs.tolist() == [-1, 1, 1]


@pytest.mark.parametrize("algorithm", MEC_KINDS)
def test_a_run_says_how_it_ran_and_how_far_it_is_and_compiles_nothing(algorithm: str) -> None:
    told: list[tuple[int, int]] = []
    mdp = family("random", states=3_000, choices=2, transitions=2, seed=1)
    with open_device("cpu", threads=3) as device:
        run = run_mec(
            algorithm, SMALL["two that leak"][0], SoftwareSetting(device=device, watch=lambda *s: told.append(s))
        )
    with open_device("cpu") as device:
        first = run_mec(algorithm, mdp, SoftwareSetting(device=device)).found
        with event.install_recorder("numba:compile") as recorder:
            second = MEC_KINDS[algorithm].load()(mdp, SoftwareSetting(device=device))
    assert (run.algorithm, run.device, run.threads) == (algorithm, "cpu", 3 if algorithm == "parallel" else 1)
    assert run.found.mecs.tolist() == [0, 1, 2]
    assert run.seconds > 0
    assert told == [(1, 3), (3, 3)]
    assert recorder.buffer == []
    assert (second.rounds, second.counts) == (first.rounds, first.counts)
