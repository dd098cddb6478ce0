"""Options that commands once had, and what to use instead."""

__all__ = ["REMOVED"]

REMOVED = {
    ("explain", "--predict"): "--try measures the changes that the record proposes, the most promising first",
    ("bench", "--profile"): "record a search with perf instead, as docs/benchmark.md shows",
}
"""What the message of a removed option says, by command and option."""
