"""The state of a machine, from which another one can continue, and its counters."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cyscc.hw.causes import Cause
from cyscc.hw.registers import Counter
from cyscc.sim.memory import MemoryState
from cyscc.sim.named_words import NamedWords


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Counts up to a cycle.

    Parameters
    ----------
    cycle : int
        Cycles since reset.
    instructions : int
        Those of instructions, each from its dispatch until the last AE was idle.
    readout : int
        Those in which the counters were read.
    causes : ndarray of int64, shape (AEs, kernels, causes)
        Cycles of each kernel by cause, BFS kernels first.
    counters : ndarray of uint64, shape (kernels, counters, AEs)
        Event counters of the hardware, BFS kernels first.
    """

    cycle: int
    instructions: int
    readout: int
    causes: npt.NDArray[np.int64]
    counters: npt.NDArray[np.uint64]

    def __sub__(self, other: "Tally") -> "Tally":
        """Return the counts since another tally."""
        return Tally(**{name: value - vars(other)[name] for name, value in vars(self).items()})

    @property
    def host(self) -> int:
        """Cycles outside of instructions: register accesses, and waiting for the next sync point of the AEs."""
        return self.cycle - self.instructions - self.readout

    def summary(self, *, bfs_kernels: int) -> dict[str, dict[str, dict[str, int]]]:
        """Return event counters and causes by module, summed over kernels and AEs.

        The causes are those of the instructions' cycles, and add up to these times kernels: in all other cycles the
        kernels are idle.

        Parameters
        ----------
        bfs_kernels : int
            BFS kernels of an AE.
        """
        causes = self.causes.copy()
        causes[:, :, Cause.IDLE] -= self.cycle - self.instructions
        found: dict[str, dict[str, dict[str, int]]] = {"counters": {}, "causes": {}}
        for module, own in (("bfs", slice(bfs_kernels)), ("intersection", slice(bfs_kernels, None))):
            found["counters"][module] = {
                counter.name.lower(): int(self.counters[own, counter].sum()) for counter in Counter
            }
            found["causes"][module] = {cause.row.name: int(causes[:, own, cause].sum()) for cause in Cause}
        return found


@dataclass(frozen=True, kw_only=True)
class MachineState:
    """The state of a machine within an instruction.

    Parameters
    ----------
    hardware : NamedWords
        Registers by name, and the host's progress in its list of commands.
    memory : MemoryState
        The memory.
    commands : list of (int, int, int)
        The list: kind, index and value of each.
    began, lead : int
        The cycle in which it began, and its cycles before the dispatch.
    spent, readout : int
        Cycles of the instructions before it, and those in which event counters were read.
    attempts : int
        Abandoned attempts.
    attempt : Tally or None
        Counts at the start of the current attempt.
    """

    hardware: NamedWords
    memory: MemoryState
    commands: list[tuple[int, int, int]]
    began: int
    lead: int
    spent: int
    readout: int
    attempts: int
    attempt: Tally | None
