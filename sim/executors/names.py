"""Names of the executors, without importing them."""

__all__ = ["EXECUTORS"]

EXECUTORS = ("compiled", "amaranth")
"""Names of the executors; the first is the default."""
