"""The graph word: entry of a vertex in R and in the frontier queues (Attia et al. 2015, section 3.1)."""

from amaranth.hdl import Cat, Value, ValueLike
from amaranth.lib import data

GraphWord = data.StructLayout({"visited": 1, "degree": 31, "start": 32})
"""A vertex: visited flag, number of neighbours, and their start in C."""

LevelWord = data.StructLayout({"visited": 1, "level": 31, "unused": 32})
"""Word of a visited vertex after a search without a reach queue: the vertex's level replaces degree and start."""


def replaced(layout: data.StructLayout, word: ValueLike, **values: ValueLike) -> Value:
    """Return a word with fields replaced.

    Payloads carry words as 64 plain bits, since a nested layout would have separate wires in Verilog. So a word is read
    through ``data.View(GraphWord, word)``, and modified by this function.

    Parameters
    ----------
    layout : StructLayout
        Layout of the word.
    word : value, 64 bits
        The old word.
    **values
        Fields by name, each as wide as the field.
    """
    view = data.View(layout, word)
    return Cat(Value.cast(values.get(name, view[name])) for name in layout.members)
