"""A machine cycle by cycle, from a state that it was in within an instruction."""

from hw.config import AcceleratorConfig
from sim.executors.base import Command, CommandKind, Executor
from sim.executors.making import make_executor, watchdog_cycles
from sim.memory import Memory
from sim.observation.state import MachineState

__all__ = ["Stepper"]


class Stepper:
    """Goes on within an instruction by single cycles; a machine stops where all its AEs meet.

    The machine whose memory it works on is of no use afterwards.

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
        What executes the hardware.
    """

    def __init__(self, config: AcceleratorConfig, memory: Memory, executor: str) -> None:
        self._memory = memory
        watchdog = watchdog_cycles(memory.profile)
        self.executor: Executor = make_executor(memory, watchdog, name=executor, config=config, threads=1, interval=1)

    def load(self, state: MachineState) -> None:
        """Go on from a state."""
        self.executor.begin([Command(CommandKind(kind), index, value) for kind, index, value in state.commands])
        self.executor.load(state.hardware)
        self._memory.load(state.memory)

    def close(self) -> None:
        """Release the executor."""
        self.executor.close()
