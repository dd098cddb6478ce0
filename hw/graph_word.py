"""The graph word: what R and the frontier queues hold of a vertex (Attia et al. 2015, section 3.1)."""

from amaranth.hdl import Cat, Value, ValueLike
from amaranth.lib import data

__all__ = ["GraphWord", "LevelWord", "replaced"]

GraphWord = data.StructLayout({"visited": 1, "degree": 31, "start": 32})
"""A vertex: whether it was visited, how many neighbours it has, and where they begin in C."""

LevelWord = data.StructLayout({"visited": 1, "level": 31, "unused": 32})
"""What a search that keeps no reach queue leaves of the word of a vertex that it visits: the vertex's level."""


def replaced(layout: data.StructLayout, word: ValueLike, **values: ValueLike) -> Value:
    """Return a word with fields replaced.

    Payloads carry words as 64 plain bits, since a payload within a payload has wires of its own in Verilog. So a word
    is looked at through ``data.View(GraphWord, word)``, and put together here.

    Parameters
    ----------
    layout : StructLayout
        What the word holds.
    word : value, 64 bits
        The word as it was.
    **values
        Fields by name, each as wide as the field.
    """
    view = data.View(layout, word)
    return Cat(Value.cast(values.get(name, view[name])) for name in layout.members)
