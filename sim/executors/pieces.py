"""The state of a native executor: pieces of registers, which its library lists, put together by their names."""

import ctypes
from typing import Any

import numpy as np

from sim.named_words import WORD, Field, NamedWords

__all__ = ["Pieces"]

_PIECE = np.dtype(
    [
        ("name", np.uint64),
        *((name, np.int64) for name in ("first", "width", "rows", "address", "bytes", "shift", "stride", "at", "step")),
        ("known", np.uint64),
    ]
)
"""`Piece` of `native/state.h`."""


class Pieces:
    """The pieces of a machine.

    Parameters
    ----------
    library : ctypes.CDLL
        The executor's library.
    machine : ctypes.c_void_p
        The machine, which must exist as long as this.

    Attributes
    ----------
    fields : tuple of Field
        What they are pieces of.
    """

    def __init__(self, library: ctypes.CDLL, machine: ctypes.c_void_p) -> None:
        first = ctypes.c_void_p()
        count = library.cyscc_pieces(machine, ctypes.byref(first))
        raw = (ctypes.c_char * (count * _PIECE.itemsize)).from_address(first.value or 0)
        self._library = library
        self._machine = machine
        self._table: Any = np.frombuffer(raw, _PIECE)
        self._names = [ctypes.string_at(address).decode() for address in self._table["name"].tolist()]
        self.fields = self._gathered_fields()
        self._aimed: tuple[Field, ...] | None = None

    def _gathered_fields(self) -> tuple[Field, ...]:
        found: dict[str, tuple[int, int, int]] = {}
        columns = (self._table[name].tolist() for name in ("first", "width", "rows"))
        for name, first, width, rows in zip(self._names, *columns, strict=True):
            end, _, known = found.get(name, (0, 0, 0))
            found[name] = (max(end, first + width), rows, known | ((1 << width) - 1) << first)
        return tuple(Field(name=name, width=end, rows=rows, known=known) for name, (end, rows, known) in found.items())

    def save(self) -> NamedWords:
        """Return the state."""
        state = NamedWords.zeros(self.fields)
        self._aim(state)
        self._library.cyscc_save(self._machine, state.words.ctypes.data)
        return state

    def load(self, state: NamedWords) -> None:
        """Set the state, as far as it is known.

        Raises
        ------
        ValueError
            It is of other hardware.
        """
        self._aim(state)
        words = np.ascontiguousarray(state.words)
        self._library.cyscc_load(self._machine, words.ctypes.data)

    def _aim(self, state: NamedWords) -> None:
        """Tell each piece its place among the words, and which of its bits they know."""
        if self._aimed is state.fields:
            return
        self._aimed = state.fields
        places = []
        columns = (self._table[name].tolist() for name in ("first", "width", "rows"))
        for name, first, width, rows in zip(self._names, *columns, strict=True):
            word, field = state.places.get(name, (0, None))
            if field is not None and field.rows != rows:
                raise ValueError(f"{name} has {rows} rows, not {field.rows}")
            if field is None:
                places.append((0, 0, 0))
            else:
                known = field.known >> first & ((1 << width) - 1)
                places.append((word * WORD + first, field.row_words * WORD, known))
        for column, values in zip(("at", "step", "known"), zip(*places, strict=True), strict=True):
            self._table[column] = values
