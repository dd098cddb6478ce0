"""Names of the executors, for those who only need to know what there is."""

__all__ = ["EXECUTORS"]

EXECUTORS = ("compiled", "amaranth")
"""Names of the executors; the first is the default."""
