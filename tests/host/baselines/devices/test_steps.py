"""Steps do the same on every device, in every order of threads: the processor, numba's simulator, a real one.

Every algorithm runs on a real one, too; on the simulator, if that is chosen, on tiny graphs.
"""

import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.baselines.algorithms import AS_PRINTED, KINDS
from cyscc.host.baselines.devices import atomic, open_device
from cyscc.host.baselines.devices.primitives import count_up, prefix_sum
from cyscc.host.baselines.devices.steps import ORDERS, Device, Order, block_step, device_function, step
from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mec.basic import small_mdp
from cyscc.host.baselines.mec.checker import check_mecs
from cyscc.host.baselines.mec.parallel import parallel
from cyscc.host.baselines.software.decomposition import SoftwareSetting, small_graph
from cyscc.host.graph.generators import random_graph, rmat_graph
from tests.host.baselines.devices.simulator import simulate
from tests.host.baselines.mdp.models import SMALL
from tests.host.baselines.software.cases import CASES, decompose
from tests.system.graphs import messy_graph

WAYS = [(name, threads) for name in ORDERS for threads in (1, 3)]


@device_function
def twice(number: int) -> int:
    return 2 * number


@step
def spread(thread: int, cells: Any, places: Any, count: Any, found: Any) -> None:
    atomic.add(cells, 0, thread)
    atomic.maximum(cells, 1, thread)
    atomic.minimum(cells, 2, -thread)
    atomic.or_(cells, 3, 1 << (thread % 40))
    atomic.and_(cells, 4, ~(1 << (thread % 40)))
    if atomic.swap(cells, 5, -1, thread) == -1:
        cells[6] = thread
    before = atomic.exchange(places, thread % 7, thread)
    if before >= 0:
        found[atomic.add(count, 0, 1)] = twice(before)


@block_step(words=1)
def turn(block: int, thread: int, threads: int, phase: int, shared: Any, values: Any, size: int) -> None:
    """Turn each block's part of an array round, through the shared memory."""
    place = block * threads + thread
    if phase == 0:
        shared[thread] = values[place] if place < size else -1
    elif place < size:
        values[place] = shared[threads - 1 - thread]


def check_atomic_operations(device: Device, size: int) -> None:
    bits = min(size, 40)
    cells = device.array(np.array([0, 0, 0, 0, -1, -1, -1]))
    places, count, found = device.full(7, -1, np.int32), device.zeros(1, np.int32), device.zeros(size)
    device.run(spread, size, cells, places, count, found)
    kept = device.read(cells)
    assert kept[:5].tolist() == [size * (size - 1) // 2, size - 1, 1 - size, (1 << bits) - 1, -(1 << bits)]
    assert 0 <= kept[5] == kept[6] < size
    # Every thread's number was put somewhere; all but the seven that stayed were found again, once.
    assert device.value(count, 0) == size - 7
    numbers = np.concatenate([device.read(found)[: size - 7] // 2, device.read(places)])
    assert np.array_equal(np.sort(numbers), np.arange(size))


def check_blocks(device: Device, blocks: int) -> None:
    size = blocks * device.block
    values = device.array(np.arange(size))
    device.run_blocks(turn, size, 2, values, size)
    assert np.array_equal(device.read(values), np.arange(size).reshape(-1, device.block)[:, ::-1].ravel())


def check_prefix_sum(device: Device, size: int) -> None:
    values = np.random.default_rng(size).integers(0, 4, size + 1)
    array = device.array(values.copy())
    assert prefix_sum(device, array, size) == values[:size].sum()
    assert np.array_equal(device.read(array)[:size], np.cumsum(values[:size]) - values[:size])
    assert device.read(array)[size] == values[size]


@pytest.mark.parametrize(("order", "threads"), WAYS)
def test_steps_on_the_processor(order: str, threads: int) -> None:
    with open_device("cpu", threads=threads, order=Order(order, seed=3)) as device:
        check_atomic_operations(device, 20_000)
        assert device.launches == 1
        check_blocks(device, 40)
        for size in (0, 1, 16, 17, 4095, 4096, 4097, 70_000):
            check_prefix_sum(device, size)
        # Permutations of a million take long.
        if order != "shuffled":
            check_prefix_sum(device, 1_200_000)


def test_values_and_what_has_no_threads() -> None:
    with open_device("cpu") as device:
        array = device.full(5, 9, np.int32)
        device.run(count_up, 3, array)
        device.store(array, 4, 7)
        assert device.value(array, 4) == 7
        assert device.read(array).tolist() == [0, 1, 2, 9, 7]
        device.run(count_up, 0, array)
        device.run_blocks(turn, 0, 2, array, 0)
        assert device.launches == 1


def test_each_launch_is_shuffled_anew_and_repeats() -> None:
    order = Order("shuffled", seed=5)
    first, second = (order.permutation(50, launch) for launch in (1, 2))
    assert sorted(first) == sorted(second) == list(range(50))
    assert first.tolist() != second.tolist()
    assert np.array_equal(first, Order("shuffled", seed=5).permutation(50, 1))
    assert not np.array_equal(first, Order("shuffled", seed=6).permutation(50, 1))


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^order must be one of natural, reversed, shuffled, not 'sorted'$"):
        Order("sorted")
    with pytest.raises(ValueError, match=r"^device must be one of cpu, cuda, not 'gpu'$"):
        open_device("gpu")


def check_steps() -> None:
    for order in ORDERS:
        with open_device("cuda", order=Order(order)) as device:
            check_atomic_operations(device, 3 * device.block + 1)
            check_blocks(device, 3)
            for count in (1, 129, 300):
                check_prefix_sum(device, count)
            cell = device.zeros(2)
            device.store(cell, 1, 4)
            assert device.value(cell, 1) == 4


@step
def put(thread: int, size: Any, order: Any, place: int, count: int) -> None:
    size[place + thread] = order[thread] + count


@block_step(words=1)
def put_together(
    block: int, thread: int, threads: int, phase: int, shared: Any, block_order: Any, count: int, body: int
) -> None:
    if phase == 0:
        shared[thread] = thread
    else:
        block_order[body + thread] = shared[threads - 1 - thread] + count


def check_names() -> None:
    """Arguments of a step may have any names, also those that stand in the text of a kernel."""
    with open_device("cuda") as device:
        kept, given = device.zeros(8), device.array(np.arange(3))
        device.run(put, 3, kept, given, 2, 10)
        assert device.read(kept).tolist() == [0, 0, 10, 11, 12, 0, 0, 0]
        others = device.zeros(device.block + 1)
        device.run_blocks(put_together, device.block, 2, others, 5, 1)
        assert device.read(others).tolist() == [0, *range(device.block + 4, 4, -1)]


every_check = pytest.mark.parametrize("check", [check_steps, check_names], ids=lambda check: check.__name__)


@every_check
def test_on_the_simulator(check: Callable[[], None]) -> None:
    simulate(check)


@pytest.mark.gpu
@every_check
def test_on_a_processor(check: Callable[[], None]) -> None:
    check()


@pytest.fixture
def device() -> Iterator[Device]:
    with open_device("cuda") as opened:
        yield opened


@pytest.mark.gpu
@pytest.mark.parametrize("case", [case for case, (name, _) in CASES.items() if KINDS[name].devices])
def test_components(case: str, device: Device) -> None:
    algorithm, options = CASES[case]
    graphs = [messy_graph(8, 14, 1)]
    if device.compiles:
        graphs.append(small_graph())
        if AS_PRINTED not in options and "sources" not in options:
            graphs += [random_graph(1 << 16, 4, 5), rmat_graph(1 << 16, 8, 5)]
    for graph in graphs:
        decompose(algorithm, graph, device, options)


@pytest.mark.gpu
def test_maximal_end_components(device: Device) -> None:
    models = [SMALL["three that do not leak"][0]]
    if device.compiles:
        models += [small_mdp(), family("random", states=20_000)]
    for model in models:
        assert check_mecs(model, parallel(model, SoftwareSetting(device=device)).mecs) is None


def test_launches_of_few_blocks_are_no_matter_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import cuda

    from cyscc.host.baselines.devices.cuda import CudaDevice

    # As with colours, which numba's messages have where colorama is installed.
    bright = SimpleNamespace(errmsg=lambda text: f"\x1b[1m{text}\x1b[0m")
    monkeypatch.setattr("numba.core.errors.termcolor", lambda: bright)

    def launch_few() -> None:
        cuda.jit(lambda array: None)[1, 8]

    with pytest.warns(match="low occupancy"):
        launch_few()
    # As if there were a graphics processor.
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "to_device", lambda values: values)
    monkeypatch.setattr(cuda, "synchronize", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CudaDevice()
        launch_few()


def test_without_a_graphics_processor() -> None:
    from numba import cuda

    if cuda.is_available():
        pytest.skip("there is one")
    from cyscc.host.baselines.devices.cuda import CudaDevice
    from cyscc.host.output.errors import InputError

    with pytest.raises(InputError, match=r"^--device cuda: no graphics processor was found"):
        CudaDevice()
