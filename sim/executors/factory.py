"""Creation of executors by name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import OnStep
from cyscc.sim.executors.base import Executor
from cyscc.sim.memory import Memory, Profile

if TYPE_CHECKING:
    from cyscc.sim.observation.waves import Waves


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
    waves: "Waves | None" = None,
    on_build: OnStep | None = None,
) -> Executor:
    """Return an executor, one of `names.EXECUTORS`, with the parameters of `cyscc.sim.machine.create_machine`."""
    # Imported here because each import is slow.
    if name == "amaranth":
        from cyscc.sim.executors.amaranth import AmaranthExecutor

        return AmaranthExecutor(config, memory, watchdog=watchdog, waves=waves)
    from cyscc.sim.executors.compiled.executor import CompiledExecutor

    return CompiledExecutor(config, memory, watchdog=watchdog, threads=threads, waves=waves, on_build=on_build)


def check_scopes(scopes: Sequence[str], *, name: str, config: AcceleratorConfig) -> None:
    """Refuse scopes that select no signal of an executor's waveforms, without making it.

    Raises
    ------
    ValueError
        A scope selects nothing. One line.
    """
    if not scopes:
        return
    from cyscc.sim.observation.waves.signals import accelerator_signals, model_signals
    from cyscc.sim.observation.waves.variables import Scopes

    if name == "amaranth":
        from cyscc.sim.executors.amaranth import elaborated

        paths = [shown.path for shown in accelerator_signals(elaborated(config).prepare())]
    else:
        paths = [path for paths in model_signals(config).values() for path in paths]
    Scopes(scopes).check(paths)
