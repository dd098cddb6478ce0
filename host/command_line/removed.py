"""Options that commands once had, and what to use instead."""

__all__ = ["REMOVED"]

REMOVED = {
    ("bench", "--profile"): "record a search with perf instead, as docs/benchmark.md shows",
}
"""What the message of a removed option says, by command and option."""
