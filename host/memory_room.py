"""How much memory there is for this process, the refusal of what needs more, and arrays that grow within it."""

import os
import re
import resource
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from host.errors import InputError
from host.words import sized

__all__ = ["Growing", "Room", "check_room", "memory_room"]

_CHECKED = 1 << 24
"""Entries after which the memory is looked at again."""


class Room(NamedTuple):
    """Memory that can still be had."""

    bytes: int
    """How much."""
    limit: str
    """What limits it, in words."""


class _Groups(NamedTuple):
    """How a version of Linux' control groups shows memory: a folder for each group, in it files."""

    mount: str
    limit: str
    used: str
    cache: str
    """Of ``memory.stat``: what the group uses for files that were read, and gives back when asked."""


_V1 = _Groups("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Groups("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
_RLIMITS = {"ulimit -v": (resource.RLIMIT_AS, 0), "ulimit -d": (resource.RLIMIT_DATA, 5)}
"""Limits of a process by their names, and the column of ``statm`` that has the pages used so far."""


def _text(file: Path) -> str:
    """Return what the kernel says in a file; nothing where there is none."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def _number(text: str, pattern: str) -> int | None:
    found = re.search(pattern, text, re.MULTILINE | re.ASCII)
    return int(found[1]) if found else None


def _left(folder: Path, scheme: _Groups) -> int | None:
    """Return what a control group may still take; None where it has no limit."""
    limit = _number(_text(folder / scheme.limit), r"^(\d+)$")
    if limit is None:
        return None
    used = _number(_text(folder / scheme.used), r"^(\d+)$") or 0
    cache = _number(_text(folder / "memory.stat"), rf"^{scheme.cache} (\d+)$") or 0
    return max(limit - max(used - cache, 0), 0)


def _groups(root: Path) -> Iterator[int]:
    """Yield what each control group of this process may still take, its ancestors included."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        scheme = _V2 if number == "0" and not controllers else _V1 if "memory" in controllers.split(",") else None
        # In a container the name may be that of the host's tree, of which only the own group is mounted, at the top.
        group = PurePosixPath(name.lstrip("/"))
        if scheme is not None and ".." not in group.parts:
            for each in (group, *group.parents):
                if (left := _left(root / scheme.mount / each, scheme)) is not None:
                    yield left


def _limits(root: Path) -> Iterator[Room]:
    available = _number(_text(root / "proc/meminfo"), r"^MemAvailable: *(\d+) kB$")
    pages = os.sysconf("SC_PAGE_SIZE")
    yield Room(os.sysconf("SC_AVPHYS_PAGES") * pages if available is None else available << 10, "this machine")
    for left in _groups(root):
        yield Room(left, "control group")
    used = _text(root / "proc/self/statm").split()
    for name, (limit, column) in _RLIMITS.items():
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY:
            yield Room(max(most - (int(used[column]) * pages if used else 0), 0), name)


def memory_room(root: Path = Path("/")) -> Room:
    """Return the memory that this process can still have without swapping.

    That is the least of what the machine has available, of what the limits of the process's address space and data
    leave, and of what its control groups leave (version 1 or 2), those above them included.

    Parameters
    ----------
    root : Path
        The folder that has ``proc`` and ``sys``.
    """
    return min(_limits(root), key=lambda room: room.bytes)


def check_room(what: str, needed: int) -> None:
    """Refuse what needs more memory than there is.

    Parameters
    ----------
    what : str
        What needs it, in the plural, for the message.
    needed : int
        Bytes beyond those that the process has already.

    Raises
    ------
    InputError
        With both numbers.
    """
    room = memory_room()
    if needed > room.bytes:
        raise InputError(
            f"{what} need about {sized(needed)} of memory, and {sized(room.bytes)} are left ({room.limit})"
        )


class Growing:
    """Columns of a table, which grow together.

    Parameters
    ----------
    *dtypes : dtype
        Types of the columns.
    of : str
        What the entries are, for messages: ``edges``.
    extra : int
        Bytes that each entry will take besides.

    Attributes
    ----------
    columns : list of ndarray
        The columns, each with room behind its entries.
    count : int
        Number of entries.
    """

    def __init__(self, *dtypes: npt.DTypeLike, of: str, extra: int = 0) -> None:
        self.count = 0
        self.columns: list[npt.NDArray[Any]] = [np.empty(0, dtype) for dtype in dtypes]
        self._of, self._extra = of, extra
        self._checked = _CHECKED

    def append(self, *values: npt.NDArray[Any]) -> None:
        """Add entries, of which each column is given as many.

        Raises
        ------
        InputError
            When memory does not hold them.
        """
        end = self.count + len(values[0])
        if end > self._checked:
            own = sum(column.itemsize for column in self.columns)
            check_room(f"the first {end:,} {self._of}", (own + self._extra) * end - own * self.count)
            self._checked = end + _CHECKED
        for column, added in zip(self.columns, values, strict=True):
            if end > len(column):
                # Reallocation in place: the pages move, the bytes are not copied.
                column.resize(max(end, len(column) * 3 // 2), refcheck=False)
            column[self.count : end] = added
        self.count = end

    def widen(self, dtype: npt.DTypeLike) -> None:
        """Give all columns another type, if they do not have it."""
        self.columns = [column.astype(dtype, copy=False) for column in self.columns]

    def take(self) -> list[npt.NDArray[Any]]:
        """Hand over the columns, without the room behind them, and begin anew."""
        taken = [column[: self.count] for column in self.columns]
        self.columns = [np.empty(0, column.dtype) for column in taken]
        self.count, self._checked = 0, _CHECKED
        return taken
