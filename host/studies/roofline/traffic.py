"""What a level of a search asks of the machine: its requests by kernel, and by crossbar link and memory bank."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from host.algorithms.reach import check_frontier
from sim.coprocessor import Register
from sim.graph_word import DEGREE, START, Field
from sim.latencies import READS_PER_EDGE, READS_PER_ENTRY, WRITES_PER_VISIT
from sim.memory import Contention
from sim.memory.compiling import jit

__all__ = ["LevelTraffic"]


_ALONE = Contention(
    links=1, banks=1, bank_busy=0, link_by_word=np.zeros(1, np.int64), bank_by_word=np.zeros(1, np.int64)
)
"""Of a memory without contention: all requests share one link and one bank, which limit nothing."""


@jit
def _count_reads(
    queue: npt.NDArray[np.uint64],
    targets: npt.NDArray[np.uint32],
    bases: npt.NDArray[np.int64],
    edges: npt.NDArray[np.int64],
    links: npt.NDArray[np.int64],
    banks: npt.NDArray[np.int64],
    link_of: npt.NDArray[np.int64],
    bank_of: npt.NDArray[np.int64],
    fields: tuple[Field, Field],
) -> None:
    start, degree = fields
    engines = links.shape[0]
    words = link_of.size - 1
    for place in range(queue.size):
        kernel = place % edges.size
        engine = kernel * engines // edges.size
        address = bases[0] + 8 * place
        links[engine, link_of[address >> 3 & words]] += 1
        banks[bank_of[address >> 3 & words]] += 1
        first = np.int64(queue[place] >> start.shift & start.mask)
        count = np.int64(queue[place] >> degree.shift & degree.mask)
        edges[kernel] += count
        for index in range(first, first + count):
            address = bases[1] + 4 * index
            links[engine, link_of[address >> 3 & words]] += 1
            banks[bank_of[address >> 3 & words]] += 1
            address = bases[2] + 8 * np.int64(targets[index])
            links[engine, link_of[address >> 3 & words]] += 1
            banks[bank_of[address >> 3 & words]] += 1


@dataclass(frozen=True, kw_only=True)
class LevelTraffic:
    """The requests of one level.

    The reads of a kernel follow from the order of the current queue, whose entry i goes to kernel i mod K. Which kernel
    pushed a vertex cannot be seen from the queues: `pushes` comes from what each kernel issued, and the links of the
    writes are counted over all AEs together.

    Parameters
    ----------
    entries, edges, pushes : ndarray of int64, shape (kernels of the machine,)
        Queue entries, edges that leave them, and vertices pushed, by kernel; AE 0's kernels first. Vertices that stand
        in the queue twice count twice.
    read_links : ndarray of int64, shape (AEs, links)
        Reads by AE and crossbar link.
    write_links : ndarray of int64, shape (links,)
        Writes by crossbar link, over all AEs.
    banks : ndarray of int64, shape (banks,)
        Reads and writes by memory bank.
    openings : ndarray of int64, shape (banks,), or None
        Rows that each bank opened for them; None where banks have no rows.
    """

    entries: npt.NDArray[np.int64]
    edges: npt.NDArray[np.int64]
    pushes: npt.NDArray[np.int64]
    read_links: npt.NDArray[np.int64]
    write_links: npt.NDArray[np.int64]
    banks: npt.NDArray[np.int64]
    openings: npt.NDArray[np.int64] | None = None

    @classmethod
    def count(
        cls,
        *,
        queue: npt.NDArray[np.uint64],
        targets: npt.NDArray[np.uint32],
        reach: npt.NDArray[np.uint32],
        issued: npt.NDArray[np.int64],
        registers: Mapping[Register, int],
        contention: Contention | None,
        openings: npt.NDArray[np.int64] | None = None,
    ) -> "LevelTraffic":
        """Count the requests of a level that has run.

        Parameters
        ----------
        queue : ndarray of uint64
            The current queue: graph words.
        targets : ndarray of uint32
            Neighbour ids of the graph.
        reach : ndarray of uint32
            The reach queue from the level's first slot on.
        issued : ndarray of int64, shape (AEs, kernels of an AE)
            Requests that each kernel issued.
        registers : mapping of Register to int
            The registers that say where all this lies.
        contention : Contention or None
            Links and banks, if the memory has any.
        openings : ndarray of int64, shape (banks,), optional
            As the memory counted them.

        Raises
        ------
        SimulationError
            A word of the queue has neighbours beyond those of the graph.
        """
        engines, kernels = issued.shape[0], issued.size
        read = (Register.CURRENT_QUEUE, Register.NEIGHBOURS, Register.WORDS)
        bases = np.array([registers[name] for name in read], np.int64)
        shared = _ALONE if contention is None else contention
        places = shared.link_by_word, shared.bank_by_word
        edges = np.zeros(kernels, np.int64)
        read_links = np.zeros((engines, shared.links), np.int64)
        banks = np.zeros(shared.banks, np.int64)
        check_frontier(queue, edges=targets.size, name="graph")
        _count_reads(queue, targets, bases, edges, read_links, banks, *places, (START, DEGREE))
        entries = (queue.size - np.arange(kernels) + kernels - 1) // kernels
        pushes = (issued.ravel() - READS_PER_ENTRY * entries - READS_PER_EDGE * edges) // WRITES_PER_VISIT
        pushed = reach[: int(pushes.sum())].astype(np.int64)
        slots = np.arange(pushed.size)
        written = ((Register.NEXT_QUEUE, 8 * slots), (Register.WORDS, 8 * pushed), (Register.REACH_QUEUE, 4 * slots))
        words = np.concatenate([registers[name] + offsets for name, offsets in written]) >> 3
        words &= shared.link_by_word.size - 1
        return cls(
            entries=entries,
            edges=edges,
            pushes=pushes,
            read_links=read_links,
            write_links=np.bincount(shared.link_by_word[words], minlength=shared.links),
            banks=banks + np.bincount(shared.bank_by_word[words], minlength=shared.banks),
            openings=openings,
        )

    @property
    def requests(self) -> int:
        """Reads and writes of the level."""
        return int(self.banks.sum())
