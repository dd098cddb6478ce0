"""The graph word's fields, for programs that handle whole arrays of words."""

from typing import Any, NamedTuple, Self

import numpy as np
from amaranth.lib import data

from hw.graph_word import GraphWord, LevelWord

__all__ = ["DEGREE", "LEVEL", "START", "VISITED", "Field"]


class Field(NamedTuple):
    """A field of a 64-bit word. Compiled functions take it as an argument and use its two parts.

    Parameters
    ----------
    shift : uint64
        Its lowest bit.
    mask : uint64
        Ones, as many as it has bits.
    """

    shift: np.uint64
    mask: np.uint64

    @classmethod
    def of(cls, layout: data.StructLayout, name: str) -> Self:
        """Return a field of a layout."""
        field = layout[name]
        return cls(np.uint64(field.offset), np.uint64((1 << field.width) - 1))

    def get(self, words: Any) -> Any:
        """Return the field of a word or of an array of words, uint64."""
        return words >> self.shift & self.mask

    def put(self, value: int) -> np.uint64:
        """Return a word that has a value in this field and zeros elsewhere."""
        return np.uint64(value) << self.shift


START, DEGREE, VISITED = (Field.of(GraphWord, name) for name in ("start", "degree", "visited"))
"""Of a graph word, see `hw.graph_word.GraphWord`."""

LEVEL = Field.of(LevelWord, "level")
"""Of a word that a search wrote a level into, see `hw.graph_word.LevelWord`; whether it did is `VISITED`."""
