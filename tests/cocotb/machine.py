"""The machine under cocotb with other tops: AEs as a coprocessor with a plain memory, and runs on it."""

import abc
import mmap
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cocotb.handle import HierarchyObject
from cocotb.task import bridge, resume

from cyscc.host.graph.reference import canonical, check_components, check_levels
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.registers import Register
from cyscc.sim.coprocessor import ArrayKind, Coprocessor, Instruction
from tests.system.graphs import messy_graph
from tests.system.runs import search, solve

ENGINES = "CYSCC_TEST_ENGINES"
"""Environment variable that says how many AEs the machine has; one if it is not set."""

GRAPHS = "CYSCC_TEST_GRAPHS"
"""Environment variable that says how many graphs."""


def machine_of(engines: int) -> AcceleratorConfig:
    """Return a small machine; of several AEs, each has a single kernel of a kind, since the build takes long."""
    return PRESETS["test"].replace(engines=engines, bfs_kernels=2 if engines == 1 else 1)


CONFIG = machine_of(int(os.environ.get(ENGINES, "1")))
"""The machine of this process."""


def prefix(engine: int) -> str:
    """Return what stands before the names of an AE's ports."""
    return f"e{engine}_"


def _find(coprocessor: Coprocessor, seed: int) -> None:
    """Find the components of a graph, or, for each third seed, search it; check the result."""
    graph = messy_graph(5 + seed % 7, 9 + seed % 17, seed)
    if seed % 3:
        run = solve(coprocessor, graph, slack=200)
        assert check_components(canonical(run.colours), graph) is None
    else:
        found = search(coprocessor, graph, 0, slack=200)
        assert check_levels(found.levels, graph, 0) is None


class ForeignCoprocessor(Coprocessor):
    """AEs with a plain memory, whose registers a bench of cocotb reaches.

    The methods of `Coprocessor` are called from a thread that `cocotb.task.bridge` started.

    Parameters
    ----------
    dut : HierarchyObject
        Module of an AE, or ``machine`` with several of them, with its clock running.
    """

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut: Any = dut
        self.config = CONFIG
        self.memory = PlainMemory()
        self.prefixes = [""] if CONFIG.engines == 1 else [prefix(engine) for engine in range(CONFIG.engines)]
        """Prefix of the names of each AE's ports."""

    @abc.abstractmethod
    def set_pace(self, seed: int) -> None:
        """Choose how memory and host behave from now on."""

    @abc.abstractmethod
    async def reset(self) -> None:
        """Reset everything."""

    @abc.abstractmethod
    async def put_register(self, register: int, value: int, engine: int = 0) -> None:
        """Write an AEG register of an AE."""

    @abc.abstractmethod
    async def get_register(self, register: int, engine: int = 0) -> int:
        """Read an AEG register of an AE."""

    @abc.abstractmethod
    async def start(self, instruction: int, engine: int = 0) -> None:
        """Dispatch an instruction to an AE."""

    @abc.abstractmethod
    async def finish(self, engine: int = 0) -> None:
        """Wait until an AE is idle."""

    async def find_all(self) -> int:
        """Make runs on random graphs, each at another pace and after a reset; return how many."""
        graphs = int(os.environ[GRAPHS])
        for seed in range(graphs):
            self.set_pace(seed)
            await self.reset()
            await bridge(_find)(self, seed)
        return graphs

    @property
    def cycle(self) -> int:
        return 0

    def allocate(self, size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        return self.memory.allocate(size, holds=holds)

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        return self.memory.view(address, dtype, count)

    def set_registers(self, values: Mapping[Register, int]) -> None:
        for engine in range(self.engines):
            for register, value in values.items():
                resume(self.put_register)(register, int(value), engine)

    def get_registers(self, registers: Sequence[int]) -> npt.NDArray[np.uint64]:
        answers = [
            [resume(self.get_register)(register, engine) for engine in range(self.engines)] for register in registers
        ]
        return np.array(answers, np.uint64)

    def dispatch(self, instruction: Instruction) -> int:
        for engine in range(self.engines):
            resume(self.start)(instruction, engine)
        return self.cycle

    def wait(self) -> int:
        for engine in range(self.engines):
            resume(self.finish)(engine)
        return int(self.get_registers([Register.CYCLES])[0, 0])

    def begin_attempt(self) -> None:
        """Count nothing."""

    def statistics(self) -> dict[str, Any]:
        """Refuse: the hardware alone does not have the statistics of a simulation.

        Raises
        ------
        NotImplementedError
            Always.
        """
        raise NotImplementedError("no statistics")

    def close(self) -> None:
        """Do nothing: the simulator continues with the next run."""


_BASE = 4096
_SIZE = 1 << 20


class PlainMemory:
    """Bytes that host and hardware share; the methods are those of `cyscc.sim.coprocessor.Coprocessor`."""

    def __init__(self) -> None:
        self.raw = mmap.mmap(-1, _SIZE)
        self.array = np.frombuffer(self.raw, np.uint8)
        self._top = _BASE

    def clear(self) -> None:
        """Take everything back."""
        self.array[:] = 0
        self._top = _BASE

    def allowed(self, address: int, size: int) -> bool:
        """Tell whether the hardware may access `size` bytes."""
        return _BASE <= address <= self._top - size

    def allocate(self, size: int, *, holds: ArrayKind = ArrayKind.OTHER) -> int:
        """Reserve memory."""
        address = self._top
        self._top += -(-size // 512) * 512
        assert self._top <= _SIZE
        return address

    def view(self, address: int, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """Return a part of the memory."""
        kind = np.dtype(dtype)
        return self.array[address : address + count * kind.itemsize].view(kind)
