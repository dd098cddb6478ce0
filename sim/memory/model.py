"""The memory as a whole: storage, timing, and what to ask it afterwards."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sim.memory import state as s
from sim.memory.arrays import State
from sim.memory.entries import entry_addresses
from sim.memory.parameters import MemoryParameters
from sim.memory.statistics import summarise
from sim.memory.storage import DEFAULT_CAPACITY, Storage

__all__ = ["Memory"]

_KINDS = ("read", "write", "flush")
_CAUSES = {
    s.OUTSIDE: "outside the allocated range {base} to {top}",
    s.MISALIGNED: "not aligned to its size",
    s.NOT_READY: "the port was not ready for a {kind}",
    s.MALFORMED: "not a mask of {ports} ports",
    s.LOG_FULL: "more requests waiting to be settled than {value}; settle every {quantum} cycles",
    s.RING_FULL: "more than {value} of kind {kind} waiting on the port",
    s.CALENDAR_FULL: "a link is reserved more than {value} blocks of 64 cycles ahead",
    s.LATE: "due in cycle {value} but shown later; settle every {quantum} cycles and leave out no event",
}


class Memory:
    """The memory of the HC-2 under one profile, with the engines' ports to it.

    Engines call `prepare`, `accept` and `next_event` of this package, and `settle` where they meet, or the same
    functions at the addresses of `addresses`, with `context`; the memory must exist as long as they do. Cycle numbers
    only ever ascend.

    Engines on threads need not wait for each other's requests to be performed: see `sim.memory.entries.seal`.

    Parameters
    ----------
    parameters : MemoryParameters
        The profile.
    engines : int
        Application engines, 1 to 4.
    ports : int
        Memory ports of each, 1 to 32.
    capacity : int
        Bytes of address space; less is taken where the system refuses that much.
    payload : PayloadLayout
        Where address, size and tag are in the payload word of a request.

    Members
    -------
    parameters : MemoryParameters
        The profile.
    engines, ports : int
        As given.
    capacity : int
        Bytes of address space there are.
    context : ndarray of int64
        What the compiled functions are given.
    mailbox : ndarray of int64, shape (engines, mailbox_layout(ports).words)
        What engines and memory exchange in a cycle.

    Raises
    ------
    ValueError
        If a number is out of range.
    MemoryError
        If the system refuses the memory.
    """

    def __init__(
        self,
        parameters: MemoryParameters,
        *,
        engines: int,
        ports: int,
        capacity: int = DEFAULT_CAPACITY,
        payload: s.PayloadLayout | None = None,
    ) -> None:
        if not 1 <= engines <= s.MAX_ENGINES:
            raise ValueError(f"engines must be from 1 to {s.MAX_ENGINES}, not {engines!r}")
        s.mailbox_layout(ports)
        layout = payload or s.PayloadLayout()
        self.parameters = parameters
        self.engines = engines
        self.ports = ports
        self._storage = Storage(min(capacity, 1 << layout.address_bits))
        self._state = State(
            parameters=parameters, engines=engines, ports=ports, payload=layout, storage=self._storage.address
        )
        self._first_cycle = 0
        self.capacity = self._storage.capacity
        self.context: NDArray[np.int64] = self._state.context
        self.mailbox: NDArray[np.int64] = self._state.mailbox

    @property
    def quantum(self) -> int:
        """Most cycles that engines may run before they meet and call `settle`."""
        return self.parameters.quantum

    @property
    def allocated(self) -> int:
        """Bytes from the first allocation to the end of the last."""
        return self._storage.top - s.BASE_ADDRESS

    def addresses(self) -> dict[str, int]:
        """Return the addresses of the functions for callers in C.

        See `sim.memory.entries.entry_addresses` for their types.
        """
        return dict(entry_addresses())

    def allocate(self, size_bytes: int, alignment: int = 512) -> int:
        """Reserve zeroed bytes and return the address of the first; see `Storage.allocate`."""
        address = self._storage.allocate(size_bytes, alignment)
        self.context[s.CTX_TOP] = self._storage.top
        return address

    def write(self, address: int, values: ArrayLike) -> None:
        """Store the elements of an array from a byte address on, in no simulated time.

        Raises
        ------
        ValueError
            As `view` does.
        """
        elements = np.asarray(values).ravel()
        self.view(address, elements.dtype, elements.size)[:] = elements

    def read(self, address: int, dtype: DTypeLike, count: int) -> NDArray[Any]:
        """Return a copy of `count` elements from a byte address on.

        Raises
        ------
        ValueError
            As `view` does.
        """
        return self.view(address, dtype, count).copy()

    def view(self, address: int, dtype: DTypeLike, count: int) -> NDArray[Any]:
        """Return a writable array over `count` elements at a byte address.

        Raises
        ------
        ValueError
            If they are not all inside the allocated range, or not aligned to their size.
        """
        return self._storage.view(address, dtype, count)

    def stray_writes(self) -> list[int]:
        """Return the addresses of words between allocations that something was written to."""
        return self._storage.stray_writes()

    def error(self) -> str | None:
        """Return one line about the first error there was, or None."""
        first = self.context[s.CTX_ERROR : s.CTX_ERROR + s.ERROR_WORDS].tolist()
        code, kind, value, ae, port, cycle = first
        if code == 0:
            return None
        place = f"engine {ae} port {port} cycle {cycle}"
        name = _KINDS[kind & 3]
        limits = {"base": s.BASE_ADDRESS, "top": int(self.context[s.CTX_TOP]), "quantum": self.quantum}
        limits["ports"] = self.ports
        cause = _CAUSES[code].format(kind=name, value=value, **limits)
        if code in (s.OUTSIDE, s.MISALIGNED):
            size = 8 if kind & 4 else 4
            return f"memory: {name} of {size} bytes at address {value:#x} ({place}): {cause}"
        if code == s.MALFORMED:
            return f"memory: mask {value:#x} of {name} requests (engine {ae} cycle {cycle}): {cause}"
        return f"memory: {name} ({place}): {cause}"

    def outstanding(self) -> list[tuple[int, int, int]]:
        """Return (engine, port, reads in flight) for each port that waits for responses."""
        reads = self._state.lanes[:, s.LANE_READS : s.LANE_READS + self.ports]
        return [(int(ae), int(port), int(reads[ae, port])) for ae, port in np.argwhere(reads)]

    def statistics(self) -> dict[str, Any]:
        """Return what was counted, ready for JSON; see `sim.memory.statistics.summarise`."""
        return summarise(self._state, first_cycle=self._first_cycle, profile=self.parameters.name)

    def reset_statistics(self) -> None:
        """Count from the cycle after the last settled one on."""
        self._first_cycle = int(self.context[s.CTX_SETTLED]) + 1
        self._state.statistics[:] = 0
        self._state.service[: s.SERVICE_BLOCK] = 0
        self._state.banks[:, 1] = 0
        self._state.lanes[:, s.LANE_READ_STALLS : s.LANE_WORDS] = 0
