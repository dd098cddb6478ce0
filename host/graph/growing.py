"""Arrays that grow in place while a file is read or a model is made."""

from typing import Any

import numpy as np
import numpy.typing as npt

from host.graph.csr import MAX_EDGES
from host.memory_room import check_room

__all__ = ["Growing"]

_CHECKED = 1 << 24
"""Entries after which the memory is looked at again."""


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
                column.resize(min(max(end, len(column) * 3 // 2), MAX_EDGES), refcheck=False)
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
