"""Executors by name."""

from pathlib import Path

from hw.config import AcceleratorConfig
from sim.executors.base import Executor
from sim.executors.names import EXECUTORS
from sim.executors.tools import OnStep
from sim.memory import Memory, Profile

__all__ = ["create_executor", "watchdog_cycles"]


def watchdog_cycles(memory: Profile) -> int:
    """Return the cycles in which nothing moves and the memory owes nothing, after which a run hangs."""
    return 20_000 + 4 * memory.unloaded_latency


def create_executor(
    name: str,
    config: AcceleratorConfig,
    memory: Memory,
    *,
    threads: int = 1,
    interval: int | None = None,
    waves: Path | None = None,
    wave_window: tuple[int, int] | None = None,
    on_build: OnStep | None = None,
) -> Executor:
    """Make an executor.

    Parameters
    ----------
    name : str
        Its name.
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory.
    interval : int, optional
        Cycles of its steps, at most those of `sim.executors.base.meeting_interval`, which is the default and what the
        host's timing follows: with another one only to go on within an instruction.
    threads, waves, wave_window, on_build
        As for `sim.machine.create_machine`.

    Raises
    ------
    ValueError
        Unknown executor.
    sim.errors.BuildError
        The compiled executor could not be built.
    """
    if name not in EXECUTORS:
        raise ValueError(f"unknown executor {name!r}: there are {', '.join(EXECUTORS)}")
    watchdog = watchdog_cycles(memory.profile)
    if name == "amaranth":
        from sim.executors.amaranth import AmaranthExecutor

        return AmaranthExecutor(
            config, memory, watchdog=watchdog, interval=interval, waves=waves, wave_window=wave_window
        )
    from sim.executors.compiled.executor import CompiledExecutor

    return CompiledExecutor(
        config,
        memory,
        watchdog=watchdog,
        threads=threads,
        interval=interval,
        waves=waves,
        wave_window=wave_window,
        on_build=on_build,
    )
