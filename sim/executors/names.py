"""Names of the executors, without importing them."""

EXECUTORS = ("compiled", "amaranth")
"""Names of the executors; the first is the default."""
