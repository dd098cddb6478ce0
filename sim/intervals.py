"""Length of the intervals of a record, known without importing the memory."""

LONGEST_INTERVAL = 1 << 16
"""Most cycles of an interval: the memory packs counts of one into words (`cyscc.sim.memory.recording`)."""
