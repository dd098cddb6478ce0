"""Creation of executors by name, and single-stepping a machine from a state."""

from collections.abc import Sequence
from pathlib import Path

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.base import Command, CommandKind, Executor
from cyscc.sim.executors.tools import OnStep
from cyscc.sim.memory import Memory, Profile
from cyscc.sim.observation.state import MachineState


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
    interval: int | None = None,
    waves: Path | None = None,
    wave_window: tuple[int, int] | None = None,
    scopes: Sequence[str] = (),
    wave_view: bool = False,
    on_build: OnStep | None = None,
) -> Executor:
    """Return an executor, one of `names.EXECUTORS`, with the parameters of `cyscc.sim.machine.create_machine`.

    With an interval other than `cyscc.sim.executors.base.sync_interval` it can only continue within an instruction.
    """
    # Imported here because each import is slow, and most runs have no waveforms.
    drawn = None
    if waves is not None:
        from cyscc.sim.observation.waves import Waves

        check_scopes(scopes, name=name, config=config)
        drawn = Waves(waves, wave_window, scopes=scopes, view=wave_view)
    if name == "amaranth":
        from cyscc.sim.executors.amaranth import AmaranthExecutor

        return AmaranthExecutor(config, memory, watchdog=watchdog, interval=interval, waves=drawn)
    from cyscc.sim.executors.compiled.executor import CompiledExecutor

    return CompiledExecutor(
        config, memory, watchdog=watchdog, threads=threads, interval=interval, waves=drawn, on_build=on_build
    )


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


class Stepper:
    """Continues within an instruction by single cycles, whereas a machine only stops at sync points of its AEs.

    The machine that owns the memory cannot be used afterwards.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory.
    executor : str
        Name of the executor.

    Attributes
    ----------
    executor : Executor
        The executor.
    """

    def __init__(self, config: AcceleratorConfig, memory: Memory, executor: str) -> None:
        self._memory = memory
        watchdog = watchdog_cycles(memory.profile)
        self.executor: Executor = make_executor(memory, watchdog, name=executor, config=config, threads=1, interval=1)

    def load(self, state: MachineState) -> None:
        """Load a state."""
        self.executor.begin([Command(CommandKind(kind), index, value) for kind, index, value in state.commands])
        self.executor.load(state.hardware)
        self._memory.load(state.memory)

    def close(self) -> None:
        """Release the executor."""
        self.executor.close()
