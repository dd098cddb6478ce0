"""What a vertex knows of the searches in one direction, a word of bits: two for each pivot, as the text has booleans.

The lower half of a word has the searches that have come to the vertex, the upper half those of them that have not gone
on from it yet: the text's frontier. One atomic operation sets both.
"""

from host.algorithms.names import MOST_PIVOTS

__all__ = ["BOTH", "GONE", "HALF"]

HALF = 32
"""Where the upper half begins."""

GONE = (1 << MOST_PIVOTS) - 1
"""The word of a vertex with a component: every search has been there and none goes on, so that none enters it."""

BOTH = (1 << HALF) + 1
"""Times a set of pivots: that set in both halves."""
