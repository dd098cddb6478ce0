"""Every step compiles to code of a graphics processor, also where there is none: with NVVM alone."""

from types import SimpleNamespace
from typing import Any

import numba
import pytest
from numba import cuda

from cyscc.host.baselines.algorithms import KINDS
from cyscc.host.baselines.devices.cpu import CpuDevice
from cyscc.host.baselines.devices.cuda import flat, kernel, layout
from cyscc.host.baselines.devices.primitives import fill, prefix_sum
from cyscc.host.baselines.devices.steps import Step
from cyscc.host.baselines.mec.basic import small_mdp
from cyscc.host.baselines.mec.parallel import parallel
from cyscc.host.baselines.software.decomposition import SoftwareSetting, small_graph

COMPUTE = (7, 5)
"""Compute capability: the oldest that CUDA 13 knows."""


class Listening(CpuDevice):
    """The processor, which notes the steps that are launched, and the types of their arguments."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.kernels: dict[tuple[Any, ...], Any] = {}

    def _run(self, step: Any, threads: int, arguments: tuple[Any, ...]) -> None:
        self._note(step, arguments)
        super()._run(step, threads, arguments)

    def _run_blocks(self, step: Any, blocks: int, size: int, phases: int, arguments: tuple[Any, ...]) -> None:
        self._note(step, arguments)
        super()._run_blocks(step, blocks, size, phases, arguments)

    def _note(self, step: Any, arguments: tuple[Any, ...]) -> None:
        order = numba.int64[::1]
        types = tuple(numba.int64 if isinstance(value, int) else numba.typeof(value) for value in flat(arguments))
        # The number of threads and their order; the orders of blocks and threads, and the phases.
        head = (numba.int64, order) if isinstance(step, Step) else (order, order, numba.int64)
        self.kernels[step.function, types] = (step, layout(arguments), head + types)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what compiles kernels without a graphics processor."""
    pytest.importorskip("numba_cuda")
    from numba.cuda import dispatcher

    # Functions that kernels call are compiled for the device that is there.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=COMPUTE))

    def compiled(kernel: Any, types: tuple[Any, ...]) -> str:
        text: str = cuda.compile_ptx(kernel, types, cc=COMPUTE)[0]
        return text

    try:
        compiled(lambda array: None, (numba.int64[::1],))
    except Exception as error:
        pytest.skip(f"NVVM is not there: {error}")
    return compiled


def check(device: Listening, compiler: Any) -> None:
    assert device.kernels
    for step, arguments, types in device.kernels.values():
        text = compiler(kernel(step, arguments), types)
        assert ".visible .entry" in text
        assert isinstance(step, Step) or "bar.sync" in text


@pytest.mark.long
def test_primitives(compiler: Any) -> None:
    device = Listening()
    values = device.zeros(100_000)
    device.run(fill, 100_000, values, 1)
    prefix_sum(device, values, 100_000)
    check(device, compiler)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name, kind in KINDS.items() if kind.devices), ("fbt", {"cached": 3, "segment": 2})],
)
def test_algorithms(name: str, options: dict[str, int], compiler: Any) -> None:
    device = Listening()
    graph = small_graph()
    KINDS[name].load()(graph, graph.transpose(), SoftwareSetting(device=device, options=options))
    check(device, compiler)


@pytest.mark.long
def test_maximal_end_components(compiler: Any) -> None:
    device = Listening()
    parallel(small_mdp(), SoftwareSetting(device=device))
    check(device, compiler)
