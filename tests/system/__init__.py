"""Whole runs: real hardware, memory, host and command line together."""
