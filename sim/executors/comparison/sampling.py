"""What a simulation's threads execute: samples of their processor time, and counted instructions, by part."""

import ctypes
import os
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import numpy as np

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.base import Executor, RunState
from cyscc.sim.executors.cache import cached, fixed_headers, write_headers
from cyscc.sim.executors.compiled.executor import CompiledExecutor
from cyscc.sim.executors.compiled.parts import build_library
from cyscc.sim.executors.tools import Steps, Toolchain, run_tool
from cyscc.sim.memory import Memory
from cyscc.sim.memory.functions import FUNCTIONS

__all__ = ["Sampler"]

_SOURCE = Path(__file__).parent / "native" / "sampler.cpp"

_PERIOD = 1_000_000
"""Nanoseconds of processor time between samples; the system may take a multiple."""

_PARTS = (
    ("ShellLane::", "shells"),
    ("Lanes::tick", "kernels: logic"),
    ("CountedKernels<", "kernels: causes"),
    ("LaneModule<", "kernels: ports"),
    ("Team::", "threads: meeting"),
    ("Engine::", "wiring"),
)
"""Parts of the machine's library by a piece of their functions' names; the first that applies."""

_ENDS = ("seal", "settle")
"""Functions of the memory that end a round; the second on machines whose requests are not performed a round later."""

_ROUNDS = "rounds"
"""The rest of that library."""

_ELSEWHERE = "elsewhere"
"""The system, and the C library."""


class _Counts(ctypes.Structure):
    """`Counts` of ``native/sampler.cpp``."""

    _fields_ = [
        ("base", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("addresses", ctypes.c_void_p),
        ("functions", ctypes.c_void_p),
    ]


class _Tally:
    """Counts by part of a library and of the memory.

    Parameters
    ----------
    base : int
        Where the library is loaded.
    names : list of (int, str)
        Offsets of its functions and their names, ascending.
    """

    def __init__(self, base: int, names: list[tuple[int, str]]) -> None:
        self._names = names
        self._addresses = np.zeros(names[-1][0], np.int64)
        self._functions = np.zeros(1 + len(FUNCTIONS), np.int64)
        self.native = _Counts(
            base=base,
            size=len(self._addresses),
            addresses=self._addresses.ctypes.data,
            functions=self._functions.ctypes.data,
        )

    def parts(self) -> Counter[str]:
        """Return the counts by part."""
        found = Counter({_ELSEWHERE: int(self._functions[0])})
        for name, count in zip(FUNCTIONS, self._functions[1:], strict=True):
            found[f"memory: {name}"] += int(count)
        places = [place for place, _ in self._names]
        for place in np.flatnonzero(self._addresses).tolist():
            name = self._names[bisect_right(places, place) - 1][1]
            part = next((part for piece, part in _PARTS if piece in name), _ROUNDS)
            found[part] += int(self._addresses[place])
        return +found


class Sampler:
    """Samples the compiled executor of a machine; one object for a process.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes of the machine.

    Raises
    ------
    cyscc.sim.errors.BuildError
        The machine or the sampler cannot be built.
    """

    def __init__(self, config: AcceleratorConfig) -> None:
        self._config = config
        self._library = ctypes.CDLL(str(_build_sampler()))
        self._library.cyscc_count.restype = ctypes.c_int64
        for name, arguments in (("cyscc_sample", 3), ("cyscc_count", 2)):
            getattr(self._library, name).argtypes = [ctypes.c_void_p, *[ctypes.c_int64] * (arguments - 1)]
        path = build_library(config, waves=False)
        names = _functions(path)
        known = next(place for place, name in names if name == "cyscc_run")
        address = ctypes.cast(ctypes.CDLL(str(path)).cyscc_run, ctypes.c_void_p).value or 0
        self._places = address - known, names
        self._samples, self._instructions = _Tally(*self._places), _Tally(*self._places)

    def executor(self, memory: Memory, watchdog: int, *, threads: int, every: int = 0) -> Executor:
        """Return an executor whose runs are sampled, or counted.

        Parameters
        ----------
        memory : Memory
            Its memory.
        watchdog : int
            The watchdog's cycles.
        threads : int
            Its threads.
        every : int
            Of how many rounds the instructions of one are counted instead, on one thread; 0 to sample.
        """
        self._library.cyscc_watch(ctypes.byref(memory.model))
        executor = CompiledExecutor(self._config, memory, watchdog=watchdog, threads=threads)
        run = executor.run

        def sampled(budget: int) -> RunState:
            for thread in os.listdir("/proc/self/task"):
                self._library.cyscc_sample(ctypes.byref(self._samples.native), int(thread), _PERIOD)
            try:
                return run(budget)
            finally:
                self._library.cyscc_stop_sampling()

        def counted(budget: int) -> RunState:
            self._count(every)
            try:
                return run(budget)
            finally:
                self._count(0)

        executor.run = counted if every else sampled  # type: ignore[method-assign]  # that is the purpose
        return executor

    def _count(self, every: int) -> int:
        return int(self._library.cyscc_count(ctypes.byref(self._instructions.native), every))

    def take_samples(self) -> Counter[str]:
        """Return the samples by part since the last call."""
        samples, self._samples = self._samples, _Tally(*self._places)
        return samples.parts()

    def instructions(self) -> tuple[Counter[str], int]:
        """Return the instructions counted so far by part, and in how many cycles; none on other processors than x86."""
        return self._instructions.parts(), self._count(0)


def _functions(library: Path) -> list[tuple[int, str]]:
    """Return the offsets of a library's functions, with their names, ascending."""
    lines = run_tool(["nm", "--demangle", "--defined-only", str(library)], dict(os.environ)).splitlines()
    found = [line.split(maxsplit=2) for line in lines]
    return sorted((int(place, 16), name) for place, kind, name in found if kind in "tTwWi")


def _build_sampler() -> Path:
    """Return the sampler's library, built now if it is not in the cache."""
    tools = Toolchain.find(verilator=False)
    watched = _watched()

    def build(folder: Path) -> Path:
        write_headers(fixed_headers() | {"watched.h": watched}, folder)
        steps = Steps(None)
        unit = tools.compile_object(_SOURCE, folder=folder, flags=[], level="-O2", steps=steps)
        tools.link([unit], folder / "sampler.so")
        return folder / "sampler.so"

    return cached("sampler", tools, inputs=_SOURCE.read_bytes() + watched.encode(), build=build, suffix=".so")


def _watched() -> str:
    """Return a C++ header with a function for each of the memory's, and ``watch``, which puts them in their places."""
    lines = []
    for number, (name, each) in enumerate(FUNCTIONS.items(), start=1):
        result = "int64_t" if each.returns else "void"
        parameters = ", ".join(["void* context", *(f"int64_t {argument}" for argument in each.arguments)])
        lines += [
            f"decltype(MemoryModel::{name}) inner_{name};",
            f"{result} outer_{name}({parameters}) {{",
            *(["    end_round(cycle);"] if name in _ENDS else []),
            f"    const Within within({number});",
            f"    return inner_{name}({', '.join(['context', *each.arguments])});",
            "}",
        ]
    lines += ["void watch(MemoryModel& model) {"]
    for name in FUNCTIONS:
        lines += [f"    inner_{name} = model.{name};", f"    model.{name} = outer_{name};"]
    return "\n".join([*lines, "}", ""])
