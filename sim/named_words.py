"""State by name: registers and memories as words, exchangeable between executors with the same names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

WORD = 64
"""Bits of a word."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """A register, or a memory of several rows.

    Parameters
    ----------
    name : str
        Its name.
    width : int
        Bits, of each row if there are several.
    rows : int
        Rows.
    known : int
        Mask of known bits; constant and unused bits may have been optimised away.
    """

    name: str
    width: int
    rows: int
    known: int

    @property
    def row_words(self) -> int:
        """Words of a row."""
        return -(-self.width // WORD)


@dataclass(frozen=True, kw_only=True)
class NamedWords:
    """Values of fields: row after row, field after field, the lowest word first.

    Parameters
    ----------
    fields : tuple of Field
        The fields.
    words : ndarray of uint64
        Their values; bits that are not known are 0.
    """

    fields: tuple[Field, ...]
    words: npt.NDArray[np.uint64]

    @classmethod
    def zeros(cls, fields: Iterable[Field]) -> "NamedWords":
        """Return fields whose bits are all 0."""
        fields = tuple(fields)
        return cls(fields=fields, words=np.zeros(sum(field.rows * field.row_words for field in fields), np.uint64))

    @classmethod
    def of(cls, values: Iterable[tuple[str, int, Sequence[int]]]) -> "NamedWords":
        """Make fields with all bits known, each from its name, its width, and the value of each row."""
        rows = {name: (width, list(listed)) for name, width, listed in values}
        words = cls.zeros(
            Field(name=name, width=width, rows=len(listed), known=(1 << width) - 1)
            for name, (width, listed) in rows.items()
        )
        for name, (_, listed) in rows.items():
            words.put(name, listed)
        return words

    def check(self) -> None:
        """Refuse fields that do not describe the words.

        Raises
        ------
        ValueError
            A field is impossible, two have the same name, or there are more or fewer words.
        """
        for field in self.fields:
            if field.width < 1 or field.rows < 0 or field.known >> field.width:
                raise ValueError(f"{field.name} is impossible: {field.rows} rows of {field.width} bits")
        if len(self.places) != len(self.fields):
            raise ValueError("two fields have the same name")
        if sum(field.rows * field.row_words for field in self.fields) != self.words.size:
            raise ValueError(f"{len(self.fields)} fields have other than {self.words.size} words")

    @cached_property
    def places(self) -> dict[str, tuple[int, Field]]:
        """First word of each field, and the field, by name."""
        places = {}
        first = 0
        for field in self.fields:
            places[field.name] = (first, field)
            first += field.rows * field.row_words
        return places

    def rows(self, name: str) -> npt.NDArray[np.uint64]:
        """Return a writable view of the words of a field, of shape (rows, words of a row)."""
        first, field = self.places[name]
        return self.words[first : first + field.rows * field.row_words].reshape(field.rows, field.row_words)

    def values(self, name: str) -> list[int]:
        """Return the value of each row of a field."""
        rows = self.rows(name).tolist()
        return [sum(word << WORD * number for number, word in enumerate(row)) for row in rows]

    def signed(self, name: str) -> int:
        """Return the value of a one-word field as a signed integer."""
        return int(self.rows(name).view(np.int64)[0, 0])

    def put(self, name: str, values: Sequence[int]) -> None:
        """Set the value of each row of a field; negative values are truncated to its width."""
        rows, width = self.rows(name), self.places[name][1].width
        bits, word = (1 << width) - 1, (1 << WORD) - 1
        rows[:] = [[(value & bits) >> WORD * number & word for number in range(rows.shape[1])] for value in values]
