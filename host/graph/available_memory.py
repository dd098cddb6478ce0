"""Memory available to this process, checks against it, and arrays that grow within it."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.host.output.errors import InputError
from cyscc.host.output.text import bytes_text
from cyscc.sim.processors import control_groups, first_number, kernel_text

_CHECKED = 1 << 24
"""Entries appended between two checks of the available memory."""


class AvailableMemory(NamedTuple):
    """Memory that can still be allocated."""

    bytes: int
    """Bytes available."""
    limit: str
    """Name of the limit that applies, for messages."""


_NAMES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}
"""Files with the limit and the use of a control group by version, and key in ``memory.stat`` of what can be freed."""
_RLIMITS = {"ulimit -v": (resource.RLIMIT_AS, 0), "ulimit -d": (resource.RLIMIT_DATA, 5)}
"""Process limits by name, each with the column of ``statm`` that counts the pages already used."""


def _left(folder: Path, limit: str, used: str, cache: str) -> int | None:
    """Return the bytes that a control group may still allocate; None if it has no limit."""
    most = first_number(kernel_text(folder / limit), r"^(\d+)$")
    taken = first_number(kernel_text(folder / used), r"^(\d+)$") or 0
    freed = first_number(kernel_text(folder / "memory.stat"), rf"^{cache} (\d+)$") or 0
    return None if most is None else max(most - max(taken - freed, 0), 0)


def _limits(root: Path) -> Iterator[AvailableMemory]:
    available = first_number(kernel_text(root / "proc/meminfo"), r"^MemAvailable: *(\d+) kB$")
    pages = os.sysconf("SC_PAGE_SIZE")
    yield AvailableMemory(
        os.sysconf("SC_AVPHYS_PAGES") * pages if available is None else available << 10, "this machine"
    )
    for version, folder in control_groups("memory", root):
        if (left := _left(folder, *_NAMES[version])) is not None:
            yield AvailableMemory(left, "control group")
    used = kernel_text(root / "proc/self/statm").split()
    for name, (limit, column) in _RLIMITS.items():
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            yield AvailableMemory(max(most - (int(used[column]) * pages if used else 0), 0), name)


def available_memory(root: Path = Path("/")) -> AvailableMemory:
    """Return the memory that this process can still allocate without swapping.

    It is the minimum of the machine's available memory, the remainder of the process's address space and data limits,
    and the remainder of its control groups (version 1 or 2) and their ancestors.

    Parameters
    ----------
    root : Path
        The folder that contains ``proc`` and ``sys``.
    """
    return min(_limits(root), key=lambda room: room.bytes)


def check_available_memory(what: str, needed: int) -> None:
    """Refuse an allocation that exceeds the available memory.

    Parameters
    ----------
    what : str
        What the memory is for, in the plural, for the message.
    needed : int
        Bytes in addition to those already allocated.

    Raises
    ------
    InputError
        Not enough memory; quotes needed and available bytes.
    """
    room = available_memory()
    if needed > room.bytes:
        raise InputError(
            f"{what} need about {bytes_text(needed)} of memory, and {bytes_text(room.bytes)} are left ({room.limit})"
        )


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class GrowingColumns:
    """Table columns that grow together.

    Parameters
    ----------
    *dtypes : dtype
        Types of the columns.
    of : str
        Plural noun of the entries for messages, such as ``edges``.
    extra : int
        Further bytes that each entry will need elsewhere.

    Attributes
    ----------
    columns : list of ndarray
        The columns, each with spare capacity behind its entries.
    count : int
        Number of entries.
    """

    def __init__(self, *dtypes: npt.DTypeLike, of: str, extra: int = 0) -> None:
        self.count = 0
        self.columns: list[npt.NDArray[Any]] = [np.empty(0, dtype) for dtype in dtypes]
        self._of, self._extra = of, extra
        self._checked = _CHECKED

    def append(self, *values: npt.NDArray[Any]) -> None:
        """Append entries; the values of all columns have the same length.

        Raises
        ------
        InputError
            The memory cannot hold them.
        """
        end = self.count + len(values[0])
        if end > self._checked:
            own = sum(column.itemsize for column in self.columns)
            check_available_memory(f"the first {end:,} {self._of}", (own + self._extra) * end - own * self.count)
            self._checked = end + _CHECKED
        for column, added in zip(self.columns, values, strict=True):
            if end > len(column):
                # Reallocate in place: remaps the pages instead of copying the bytes.
                column.resize(max(end, len(column) * 3 // 2), refcheck=False)
            column[self.count : end] = added
        self.count = end

    def take(self) -> list[npt.NDArray[Any]]:
        """Return the columns without their spare capacity, and start over with empty ones."""
        taken = [column[: self.count] for column in self.columns]
        self.columns = [np.empty(0, column.dtype) for column in taken]
        self.count, self._checked = 0, _CHECKED
        return taken
