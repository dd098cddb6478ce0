"""The same steps as kernels of a graphics processor: on numba's simulator, in every order of threads."""

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import ORDERS, Order, block_step, step
from tests.host.baselines.devices.simulator import simulate
from tests.host.baselines.devices.test_steps import check_atomic_operations, check_blocks, check_prefix_sum


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
