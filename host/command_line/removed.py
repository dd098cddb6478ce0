"""Options that commands once had, and what to use instead."""

__all__ = ["REMOVED"]

REMOVED = {
    ("explain", "--predict"): "--try measures the changes that the record proposes, the most promising first",
    ("bench", "--profile"): "record a search with perf instead, as docs/benchmark.md shows",
}
"""Successors of removed options, by command and option: the text of the message."""
