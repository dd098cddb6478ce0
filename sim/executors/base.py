"""Interface of executors, which execute host commands on the hardware."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.executors.accesses import AccessRequest
from cyscc.sim.executors.samples import MODULES, Samples
from cyscc.sim.executors.spells import SpellRequest
from cyscc.sim.memory import Memory
from cyscc.sim.named_words import NamedWords

if TYPE_CHECKING:
    from cyscc.sim.observation.waves import Waves

LINK_PLACES = 2048
"""Token slots of a link: a power of two, at least twice the link's cycles."""


_UNTOLD = "exported hardware does not tell what its kernels do"


class CommandKind(IntEnum):
    """Host action in a cycle."""

    WRITE = 0
    """Write an AEG register of every AE."""
    DISPATCH = 1
    """Dispatch an instruction to every AE. Only as the last command of a list."""
    READ = 2
    """Read an AEG register of every AE; takes until the answer arrives."""


@dataclass(frozen=True)
class Command:
    """A host command: register number or instruction, and the value of a write."""

    kind: CommandKind
    index: int
    value: int = 0


class RunState(IntEnum):
    """Status of a run."""

    RUNNING = 0
    DONE = 1
    HUNG = 2
    MEMORY_ERROR = 3


def sync_interval(config: AcceleratorConfig, memory: Memory) -> int:
    """Return the cycles that the AEs may run between sync points, where they synchronize.

    AEs interact only through the memory, with a delay of `memory.quantum` cycles, and the link. Every executor advances
    in such intervals, and the host's commands start at a sync point, so that all executors give the same cycles.
    """
    return min(memory.quantum, config.link_cycles) if config.engines > 1 else memory.quantum


class Executor(abc.ABC):
    """Executes lists of host commands. A list starts when the one before it is done.

    Attributes
    ----------
    samples : Samples or None
        Ring of sample rows, if recording.
    waves : Waves or None
        The waveform file that is written.
    """

    samples: Samples | None = None
    waves: "Waves | None" = None

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
        """Answers to the last list's reads, of shape (reads, AEs)."""

    @abc.abstractmethod
    def begin(self, commands: Sequence[Command]) -> None:
        """Start a list of commands."""

    @abc.abstractmethod
    def run(self, budget: int) -> RunState:
        """Run until the list is done (after a dispatch, until all AEs are idle), or for about `budget` cycles."""

    def causes(self) -> npt.NDArray[np.int64]:
        """Return cycles since reset by AE, kernel (BFS kernels first) and `cyscc.hw.causes.Cause`.

        Raises
        ------
        NotImplementedError
            See `sample`.
        """
        rows = self.sample()
        return np.concatenate([rows[module]["causes"] for module in MODULES], axis=1)

    def record(self, interval: int, places: int) -> Samples:
        """Start sampling: every AE writes a row at each multiple of an interval, with FIFO occupancy.

        Sampling changes neither cycles nor results. Rows must be taken before the ring overwrites them, see
        `Samples.limit`. After `load`, sampling continues with the next multiple.

        Raises
        ------
        NotImplementedError
            See `sample`.
        """
        raise NotImplementedError(_UNTOLD)

    def sample(self) -> npt.NDArray[np.void]:
        """Return the current row of each AE; call between two runs.

        Raises
        ------
        NotImplementedError
            The hardware lacks simulation-only outputs, like exported hardware.
        """
        raise NotImplementedError(_UNTOLD)

    def begin_instruction_marks(self) -> None:
        """Reset the rows' ``instruction_most``; call between two runs.

        Raises
        ------
        NotImplementedError
            See `sample`.
        """
        raise NotImplementedError(_UNTOLD)

    def log_spells(self, request: SpellRequest) -> None:
        """Start logging spells of kernels, instead of those logged before; call between two runs.

        Logging changes neither cycles nor results. A spell under way now begins now, and so it is after `load`.

        Raises
        ------
        NotImplementedError
            This executor does not support it.
        """
        raise NotImplementedError("this executor cannot log spells")

    def take_spells(self, *, under_way: bool = False) -> npt.NDArray[np.void]:
        """Return the logged spells that have ended since the last call, in no order; call between two runs.

        Parameters
        ----------
        under_way : bool
            Also those that are under way and long enough, up to the current cycle. They are returned again when they
            have ended.

        Returns
        -------
        ndarray of SPELL
            See `cyscc.sim.executors.spells.SPELL`.
        """
        raise NotImplementedError("this executor cannot log spells")

    def log_accesses(self, request: AccessRequest) -> None:
        """Start logging accesses of kernels, instead of those logged before; call between two runs.

        Logging changes neither cycles nor results.

        Raises
        ------
        NotImplementedError
            This executor does not support it.
        """
        raise NotImplementedError("this executor cannot log accesses")

    def take_accesses(self) -> npt.NDArray[np.void]:
        """Return the logged accesses since the last call, in no order; reads once they are answered.

        Call between two runs.

        Returns
        -------
        ndarray of ACCESS
            See `cyscc.sim.executors.accesses.ACCESS`.
        """
        raise NotImplementedError("this executor cannot log accesses")

    def open_reads(self) -> int:
        """Return how many reads of the cycles that are logged are not answered yet; call between two runs.

        Raises
        ------
        NotImplementedError
            This executor does not support it.
        """
        raise NotImplementedError("this executor cannot log accesses")

    def save(self) -> NamedWords:
        """Return the state: registers, tokens on links, progress of the host. Call between runs without pending reads.

        The state is the same for all executors of the hardware. Besides registers it has ``machine.cycle`` and
        ``machine.begun`` (the start cycle of the list), ``engine0.host.*`` (progress of the host in its list),
        ``link0.*`` (slots by arrival cycle), and the counters of `sample`: ``engine0.bfs0.causes`` etc. by kernel, and
        ``engine0.bfs.turns``.

        Raises
        ------
        NotImplementedError
            This executor does not support it.
        """
        raise NotImplementedError("this executor cannot save its state")

    def load(self, state: NamedWords) -> None:
        """Load a state, after `begin` with the same list of commands.

        Bits that the state does not know keep their values.

        Raises
        ------
        NotImplementedError
            This executor does not support it.
        ValueError
            The state is of other hardware.
        """
        raise NotImplementedError("this executor cannot go on from a state")

    @abc.abstractmethod
    def close(self) -> None:
        """Release everything."""
