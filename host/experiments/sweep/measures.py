"""Results that the plot of a sweep may show; the command line knows them without what draws."""

MEASURES = {"cycles": "cycles", "gteps": "throughput (GTEPS)", "seconds": "simulated time (ms)"}
"""Titles of the results' axes, by columns; the first is the default."""
