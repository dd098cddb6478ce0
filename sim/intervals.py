"""Length of the intervals of a record, known without importing the memory."""

__all__ = ["LONGEST_INTERVAL"]

LONGEST_INTERVAL = 1 << 16
"""Most cycles of an interval: the memory packs counts of one into words (`cyscc.sim.memory.recording`)."""
