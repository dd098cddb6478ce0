"""Log of accesses to chosen addresses, of an AE each, in the order in which its requests were accepted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.memory.records import MAX_PORTS, NEVER, AccessLog, AccessRange, Request
from cyscc.sim.memory.structures import Arena

ACCESS = np.dtype(
    [
        ("cycle", np.int64),
        ("answered", np.int64),
        ("engine", np.int64),
        ("port", np.int64),
        ("write", np.bool_),
        ("size", np.int64),
        ("tag", np.int64),
        ("address", np.int64),
        ("data", np.uint64),
    ]
)
"""An access: the cycle in which its port accepted it; the cycle of a read's response, or in which a write is complete;
AE and port; whether it is a write; bytes; the tag of a read; byte address; data."""

_MOST = 256
"""Most ranges of a log."""


@dataclass(frozen=True, kw_only=True)
class WatchedRange:
    """Addresses of which accesses are logged.

    Parameters
    ----------
    start, end : int
        First address, and the address after the last.
    mask, value : int
        Only accesses whose data has this value in the bits of the mask; by default all.
    """

    start: int
    end: int
    mask: int = 0
    value: int = 0


class Accesses:
    """The log of a memory, see `cyscc.sim.memory.memory.Memory.log_accesses`.

    Parameters
    ----------
    context : ndarray of Context
        The memory's context.
    span : int
        Most cycles between two calls of `take`.

    Members
    -------
    span : int
        As given.
    records : ndarray of AccessLog
        Records for compiled code.
    """

    def __init__(self, context: NDArray[np.void], *, span: int) -> None:
        self.span = span
        self._context = context
        engines, ports, quantum = (int(context[name][0]) for name in ("engines", "ports", "quantum"))
        # Each port accepts a read and a write per cycle; requests of the latest rounds are logged with the next ones.
        capacity = 2 * ports * (span + 4 * quantum)
        self._arena = Arena()
        self.records = self._arena.make(AccessLog, engines)
        self.records["capacity"], self.records["end"] = capacity, NEVER
        self._chosen = self._arena.link(self.records, "chosen", AccessRange, _MOST)
        self._rows = self._arena.link(self.records, "rows", Request, capacity)

    def choose(self, ranges: Sequence[WatchedRange], *, first: int = 0, end: int = NEVER) -> None:
        """Log accesses to some ranges, accepted from a cycle until before another one; call between two runs.

        Raises
        ------
        ValueError
            There are more ranges than a log takes.
        """
        if len(ranges) > _MOST:
            raise ValueError(f"a log of accesses takes at most {_MOST} ranges, not {len(ranges)}")
        self.records["first"], self.records["end"], self.records["ranges"] = first, end, len(ranges)
        for index, each in enumerate(ranges):
            self._chosen[:, index] = (
                each.start,
                each.end,
                *np.array([each.mask, each.value], np.uint64).view(np.int64),
            )

    def follow(self, first: int, end: int) -> None:
        """Log all requests accepted from a cycle until before another one, when they are; call between two runs."""
        self._entered = self._arena.link(self.records, "entered", Request, self._rows.shape[1])
        self.records["first"], self.records["end"], self.records["following"] = first, end, 1

    def take(self) -> NDArray[np.void]:
        """Return the accesses logged since the last call, as `ACCESS`, ordered by AE; call between two runs.

        Raises
        ------
        ValueError
            It was not called often enough, and accesses were lost.
        """
        return self._taken("count", self._rows)

    def take_entered(self) -> NDArray[np.void]:
        """Return the requests that were followed, as `take` does; `answered` is their entry into the way there."""
        return self._taken("entries", self._entered)

    def _taken(self, number: str, logged: NDArray[np.void]) -> NDArray[np.void]:
        counts = self.records[number].tolist()
        if max(counts) > logged.shape[1]:
            raise ValueError(f"the log of accesses has room for {logged.shape[1]}, and there were {max(counts)}")
        self.records[number] = 0
        rows = np.concatenate([own[:count] for own, count in zip(logged, counts, strict=True)])
        taken = np.zeros(rows.size, ACCESS)
        when, payload, data = rows["when"], rows["payload"], rows["data"][:, 0].view(np.uint64)
        taken["cycle"], taken["port"], taken["write"] = when >> 16, when >> 1 & (MAX_PORTS - 1), when & 1
        taken["answered"], taken["engine"] = rows["time"], np.repeat(np.arange(len(counts)), counts)
        taken["address"] = payload & self._context["address_mask"]
        taken["tag"] = payload >> self._context["tag_shift"] & self._context["tag_mask"]
        wide = payload >> self._context["size_bit"] & 1
        taken["size"] = 4 + 4 * wide
        taken["data"] = np.where(wide, data, data & np.uint64(0xFFFF_FFFF))
        return taken
