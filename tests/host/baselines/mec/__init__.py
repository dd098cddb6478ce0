"""Tests of `host/baselines/mec`."""
