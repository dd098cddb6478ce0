"""The same steps as kernels of a graphics processor: on numba's simulator, in every order of threads."""

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.primitives import prefix_sum
from cyscc.host.baselines.devices.steps import ORDERS, Order, block_step, step
from tests.host.baselines.devices.simulator import simulate
from tests.host.baselines.devices.test_steps import spread, turn


def check_steps() -> None:
    for order in ORDERS:
        with open_device("cuda", order=Order(order)) as device:
            size = 3 * device.block + 1
            bits = min(size, 40)
            cells = device.array(np.array([0, 0, 0, 0, -1, -1, -1]))
            places, count, found = device.full(7, -1, np.int32), device.zeros(1, np.int32), device.zeros(size)
            device.run(spread, size, cells, places, count, found)
            kept = device.read(cells)
            assert kept[:5].tolist() == [size * (size - 1) // 2, size - 1, 1 - size, (1 << bits) - 1, -(1 << bits)]
            assert 0 <= kept[5] == kept[6] < size
            assert device.value(count, 0) == size - 7
            numbers = np.concatenate([device.read(found)[: size - 7] // 2, device.read(places)])
            assert np.array_equal(np.sort(numbers), np.arange(size))


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


def check_blocks() -> None:
    for order in ORDERS:
        with open_device("cuda", order=Order(order)) as device:
            size = 3 * device.block
            values = device.array(np.arange(size))
            device.run_blocks(turn, size, 2, values, size)
            assert np.array_equal(device.read(values), np.arange(size).reshape(-1, device.block)[:, ::-1].ravel())
            for count in (1, 129, 300):
                numbers = np.arange(count + 1) % 3
                array = device.array(numbers)
                assert prefix_sum(device, array, count) == numbers[:count].sum()
                assert np.array_equal(device.read(array)[:count], np.cumsum(numbers[:count]) - numbers[:count])
            device.store(values, 1, 4)
            assert device.value(values, 1) == 4


every_check = pytest.mark.parametrize(
    "check", [check_steps, check_names, check_blocks], ids=lambda check: check.__name__
)


@every_check
def test_on_the_simulator(check: Callable[[], None]) -> None:
    simulate(check)


@pytest.mark.gpu
@every_check
def test_on_a_processor(check: Callable[[], None]) -> None:
    check()


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
