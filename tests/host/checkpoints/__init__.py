"""Tests of `host/checkpoints`."""
