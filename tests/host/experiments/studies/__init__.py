"""Tests of `host/experiments/studies`."""
