"""Checkpoints of long runs: written to a folder while they run, and resumed."""
