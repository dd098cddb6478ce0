"""Other simulators of the exported hardware, for comparison: same memory and cycles, but slower."""
