"""Tests of `host/runs/checkpoints`."""
