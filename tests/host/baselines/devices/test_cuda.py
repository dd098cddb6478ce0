"""The same steps as kernels of a graphics processor: on numba's simulator, in every order of threads.

Every algorithm runs on a real one; on the simulator, if that is chosen, on tiny graphs.
"""

import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.baselines.algorithms import AS_PRINTED, KINDS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import ORDERS, Device, Order, block_step, step
from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mec.basic import small_mdp
from cyscc.host.baselines.mec.checker import check_mecs
from cyscc.host.baselines.mec.parallel import parallel
from cyscc.host.baselines.software.decomposition import SoftwareSetting, small_graph
from cyscc.host.graph.generators import random_graph, rmat_graph
from tests.host.baselines.devices.simulator import simulate
from tests.host.baselines.devices.test_steps import check_atomic_operations, check_blocks, check_prefix_sum
from tests.host.baselines.mdp.models import SMALL
from tests.host.baselines.software.cases import CASES, decompose
from tests.system.graphs import messy_graph


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
