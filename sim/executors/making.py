"""Making an executor by its name, with waveforms where they are wanted."""

from collections.abc import Sequence
from pathlib import Path

from hw.config import AcceleratorConfig
from sim.executors.base import Executor
from sim.executors.tools import OnStep
from sim.memory import Memory, Profile

__all__ = ["make_executor", "watchdog_cycles"]


def watchdog_cycles(memory: Profile) -> int:
    """Return the cycles in which nothing moves and the memory owes nothing, after which a run hangs."""
    return 20_000 + 4 * memory.unloaded_latency


def make_executor(
    name: str,
    config: AcceleratorConfig,
    memory: Memory,
    *,
    watchdog: int,
    threads: int,
    interval: int | None = None,
    waves: Path | None = None,
    wave_window: tuple[int, int] | None = None,
    scopes: Sequence[str] = (),
    wave_view: bool = False,
    on_build: OnStep | None = None,
) -> Executor:
    """Return an executor of one of `sim.executors.names`; the rest is as of `sim.machine.create_machine`.

    With another interval than that of `sim.executors.base.meeting_interval` it can only go on within an instruction.
    """
    # Here, as each takes long to import, and most runs have no waveforms.
    drawn = None
    if waves is not None:
        from sim.observation.waves import Waves
        from sim.observation.waves.signals import accelerator_signals, model_signals

        signals = (accelerator_signals if name == "amaranth" else model_signals)(config)
        drawn = Waves(waves, wave_window, signals=signals, scopes=scopes, view=wave_view)
    if name == "amaranth":
        from sim.executors.amaranth import AmaranthExecutor

        return AmaranthExecutor(config, memory, watchdog=watchdog, interval=interval, waves=drawn)
    if drawn is not None:
        from sim.executors.compiled.windowed import WindowedExecutor

        return WindowedExecutor(config, memory, watchdog=watchdog, threads=threads, waves=drawn, on_build=on_build)
    from sim.executors.compiled.executor import CompiledExecutor

    return CompiledExecutor(config, memory, watchdog=watchdog, threads=threads, interval=interval, on_build=on_build)
