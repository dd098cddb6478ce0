"""Runs: specification, execution, checkpoints and results, shared by the command line and the Python interface."""
