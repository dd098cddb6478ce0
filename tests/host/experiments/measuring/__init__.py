"""Tests of `host/experiments/measuring`."""
