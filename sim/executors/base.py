"""What every executor is: an executor of host commands on the hardware."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from hw.config import AcceleratorConfig
from sim.executors.samples import MODULES, Samples
from sim.memory import Memory
from sim.named_words import NamedWords

__all__ = ["LINK_PLACES", "Command", "CommandKind", "Executor", "RunState", "meeting_interval"]

LINK_PLACES = 2048
"""Tokens that a link has places for: a power of two, at least twice the cycles that it takes."""


_UNTOLD = "exported hardware does not tell what its kernels do"


class CommandKind(IntEnum):
    """What the host does in a cycle."""

    WRITE = 0
    """Write an AEG register of every AE."""
    DISPATCH = 1
    """Dispatch an instruction to every AE. Only as the last command of a list."""
    READ = 2
    """Read an AEG register of every AE; takes as many cycles as the answer."""


@dataclass(frozen=True)
class Command:
    """A host command: register number or instruction, and the value of a write."""

    kind: CommandKind
    index: int
    value: int = 0


class RunState(IntEnum):
    """How a run stands."""

    RUNNING = 0
    DONE = 1
    HUNG = 2
    MEMORY_ERROR = 3


def meeting_interval(config: AcceleratorConfig, memory: Memory) -> int:
    """Return how many cycles the AEs may run before they must meet.

    They touch each other only through the memory, `memory.quantum` cycles away, and the link. Every executor advances
    in such steps, and the host's commands begin with one, so that all executors give the same cycles.
    """
    return min(memory.quantum, config.link_cycles) if config.engines > 1 else memory.quantum


class Executor(abc.ABC):
    """Executes lists of host commands. A list begins when the one before it is done.

    Attributes
    ----------
    samples : Samples or None
        What `record` has returned, if it was called.
    """

    samples: Samples | None = None

    @property
    @abc.abstractmethod
    def cycle(self) -> int:
        """Cycles simulated so far."""

    @property
    @abc.abstractmethod
    def instruction_cycles(self) -> int:
        """Cycles from the last dispatch until the last AE was idle."""

    @property
    @abc.abstractmethod
    def answers(self) -> npt.NDArray[np.uint64]:
        """Answers of the last list's reads, of shape (reads, AEs)."""

    @abc.abstractmethod
    def begin(self, commands: Sequence[Command]) -> None:
        """Begin a list of commands."""

    @abc.abstractmethod
    def run(self, budget: int) -> RunState:
        """Run until the list is done and all AEs are idle if it dispatched, or for about `budget` cycles."""

    def causes(self) -> npt.NDArray[np.int64]:
        """Cycles by AE, kernel (BFS kernels first) and `hw.causes.Cause`, since reset.

        Raises
        ------
        NotImplementedError
            As of `sample`.
        """
        rows = self.sample()
        return np.concatenate([rows[module]["causes"] for module in MODULES], axis=1)

    def record(self, interval: int, places: int) -> Samples:
        """Have every AE write a row at each multiple of an interval from now on, and count how full FIFOs are.

        Cycles and results are those without it. Rows must be taken before the ring overwrites them, see
        `Samples.limit`. After `load`, sampling goes on with the next multiple.

        Raises
        ------
        NotImplementedError
            As of `sample`.
        """
        raise NotImplementedError(_UNTOLD)

    def sample(self) -> npt.NDArray[np.void]:
        """Return the same numbers as of now, a row for each AE, between two runs.

        Raises
        ------
        NotImplementedError
            The hardware has no outputs that only simulation needs, as exported hardware.
        """
        raise NotImplementedError(_UNTOLD)

    def begin_instruction_marks(self) -> None:
        """Let the rows' ``instruction_most`` begin anew, between two runs.

        Raises
        ------
        NotImplementedError
            As of `sample`.
        """
        raise NotImplementedError(_UNTOLD)

    def save(self) -> NamedWords:
        """Return the state between two runs, while no read is under way: registers, tokens on links, where the host is.

        It is the same for all executors of the hardware. What is no register is ``machine.cycle`` and ``machine.begun``
        (the cycle in which the list began), ``engine0.host.*`` (where the host is in its list), ``link0.*`` (places by
        cycles of arrival), and what `sample` has but for the cycle: ``engine0.bfs0.causes`` and so on by kernel, and
        ``engine0.bfs.turns``.

        Raises
        ------
        NotImplementedError
            This executor cannot.
        """
        raise NotImplementedError("this executor cannot save its state")

    def load(self, state: NamedWords) -> None:
        """Go on from a state, after `begin` with the same list of commands.

        Bits that the state does not know stay as they are.

        Raises
        ------
        NotImplementedError
            This executor cannot.
        ValueError
            The state is of other hardware.
        """
        raise NotImplementedError("this executor cannot go on from a state")

    @abc.abstractmethod
    def close(self) -> None:
        """Release everything."""
