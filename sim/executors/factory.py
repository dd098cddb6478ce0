"""Creation of executors by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.base import Executor
from cyscc.sim.executors.tools import OnStep
from cyscc.sim.memory import Memory, Profile

if TYPE_CHECKING:
    from cyscc.sim.observation.waves.signals import Signals


def watchdog_cycles(memory: Profile) -> int:
    """Return the watchdog's cycles: without progress and outstanding memory requests, a run then counts as hung."""
    return 20_000 + 4 * memory.unloaded_latency


def make_executor(
    memory: Memory,
    watchdog: int,
    *,
    name: str,
    config: AcceleratorConfig,
    threads: int,
    waves: Path | None = None,
    wave_window: tuple[int, int] | None = None,
    scopes: Sequence[str] = (),
    wave_view: bool = False,
    on_build: OnStep | None = None,
) -> Executor:
    """Return an executor, one of `names.EXECUTORS`, with the parameters of `cyscc.sim.machine.create_machine`."""
    # Imported here because each import is slow, and most runs have no waveforms.
    drawn = None
    if waves is not None:
        from cyscc.sim.observation.waves import Waves

        drawn = Waves(waves, wave_window, signals=_signals(name, config), scopes=scopes, view=wave_view)
    if name == "amaranth":
        from cyscc.sim.executors.amaranth import AmaranthExecutor

        return AmaranthExecutor(config, memory, watchdog=watchdog, waves=drawn)
    if drawn is not None:
        from cyscc.sim.executors.compiled.windowed import WindowedExecutor

        return WindowedExecutor(config, memory, watchdog=watchdog, threads=threads, waves=drawn, on_build=on_build)
    from cyscc.sim.executors.compiled.executor import CompiledExecutor

    return CompiledExecutor(config, memory, watchdog=watchdog, threads=threads, on_build=on_build)


def check_scopes(scopes: Sequence[str], *, name: str, config: AcceleratorConfig) -> None:
    """Refuse scopes that select no signal of an executor's waveforms, without making it.

    Raises
    ------
    ValueError
        A scope selects nothing. One line.
    """
    from cyscc.sim.observation.waves.variables import Scopes

    if scopes:
        Scopes(scopes).check(path for paths in _signals(name, config).models.values() for path in paths)


def _signals(name: str, config: AcceleratorConfig) -> "Signals":
    """Return the signals that an executor's waveforms may show."""
    from cyscc.sim.observation.waves.signals import accelerator_signals, model_signals

    return (accelerator_signals if name == "amaranth" else model_signals)(config)
