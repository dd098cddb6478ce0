"""Accesses: reads and writes of kernels as seen at their own ports, where the kernel and its process are known."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cyscc.hw.config import AcceleratorConfig
from cyscc.sim.caching.tools import NATIVE
from cyscc.sim.executors.native_tables import filled, structure, table_at
from cyscc.sim.memory import Memory
from cyscc.sim.named_words import NamedWords

READ, WRITE, DROP = range(3)
"""Kinds of accesses: besides reads and writes, that a kernel drops the first vertex of an instruction."""

NEVER = 1 << 62
"""A cycle that no run reaches."""

ACCESS = structure(NATIVE / "access_log.h", "Access")
"""dtype of an access.

The cycle in which the kernel's port took it, and that of the answer; data; byte address; of a read, its number among
those of the kernel with its tag in the instruction; AE; index of the module in `cyscc.sim.executors.samples.MODULES`;
kernel; tag of a read; kind; bytes.
"""

_WATCHED = structure(NATIVE / "access_log.h", "WatchedAccesses")
_REQUEST = structure(NATIVE / "access_log.h", "AccessRequest")

_SLICE_READS = (
    *("reads.output__valid", "input__valid", "order.fifo.inner_level", "order.fifo.r_rdy", "order.output__valid"),
    *("coming", "port__response__valid"),
)
"""Registers of a `cyscc.hw.switch.kernel_slice.KernelSlice` that count its reads in all stages; its first one may have
two, namely if these ends are the same."""

_SLICE_ENDS = ("reads.first", "reads.end")


@dataclass(frozen=True, kw_only=True)
class WatchedAccesses:
    """Accesses to be logged.

    Parameters
    ----------
    start, end : int
        First address, and the address after the last.
    kinds : collection of int
        `READ`, `WRITE`, `DROP`: the last has address 0.
    mask, low, high : int
        Only those whose data, masked, is in these limits; by default all.
    """

    start: int
    end: int
    kinds: Sequence[int] = (READ, WRITE)
    mask: int = 0
    low: int = 0
    high: int = 0


@dataclass(frozen=True, kw_only=True)
class AccessRequest:
    """The accesses that are to be logged.

    Parameters
    ----------
    watched : sequence of WatchedAccesses
        The accesses: those that any of these names.
    first, end : int
        The cycles in which ports take them: the first one, and the one after the last.
    """

    watched: Sequence[WatchedAccesses]
    first: int = 0
    end: int = NEVER


class AccessRows:
    """The log of a native machine's accesses.

    Parameters
    ----------
    library : ctypes.CDLL
        The machine's library.
    machine : ctypes.c_void_p
        The machine, which must outlive this.
    engines : int
        AEs.
    """

    def __init__(self, library: ctypes.CDLL, machine: ctypes.c_void_p, engines: int) -> None:
        self._library = library
        self._machine = machine
        self._engines = engines

    def want(self, request: AccessRequest, under_way: npt.NDArray[np.int64]) -> None:
        """Log accesses from now on, given the reads of each AE's kernels that are not answered yet."""
        rows = np.array(
            [
                (sum(1 << kind for kind in each.kinds), each.start, each.end, each.mask, each.low, each.high)
                for each in request.watched
            ],
            _WATCHED,
        )
        asked = filled(
            _REQUEST,
            first=request.first,
            end=request.end,
            count=rows.size,
            watched=rows.ctypes.data,
            kernels=under_way.shape[1],
            under_way=under_way.ctypes.data,
        )
        self._library.cyscc_log_accesses(self._machine, asked.ctypes.data)

    def open(self) -> int:
        """Return the reads that are not answered yet, of those to be logged or of others in the same cycles."""
        return int(self._library.cyscc_open_reads(self._machine))

    def take(self) -> npt.NDArray[np.void]:
        """Return the accesses since the last call, see `Executor.take_accesses`."""
        found = []
        for engine in range(self._engines):
            first = ctypes.c_void_p()
            count = self._library.cyscc_take_accesses(self._machine, engine, ctypes.byref(first))
            if count:
                found.append(table_at(first.value, count, ACCESS).copy())
        return np.concatenate(found or [np.zeros(0, ACCESS)])


def reads_under_way(
    config: AcceleratorConfig, memory: Memory, save: Callable[[], NamedWords] | None
) -> npt.NDArray[np.int64]:
    """Return the reads of each AE's kernels that are not answered yet, of shape (AEs, kernels).

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    memory : Memory
        The memory.
    save : callable or None
        Returns the state of the machine; None if all is answered.
    """
    found = np.zeros((config.engines, config.bfs_kernels), np.int64)
    if save is None:
        return found
    if not config.link_queues:
        for engine, port, reads in memory.outstanding():
            found[engine, port] = reads
        return found
    state = save()
    for engine, kernel in np.ndindex(found.shape):
        place = f"engine{engine}.switch.kernel{kernel}"
        here = {name: state.signed(f"{place}.{name}") for name in (*_SLICE_READS, *_SLICE_ENDS)}
        full = here["reads.output__valid"] and len({here[name] for name in _SLICE_ENDS}) == 1
        found[engine, kernel] = sum(here[name] for name in _SLICE_READS) + int(full)
    return found
