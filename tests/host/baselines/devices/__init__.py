"""Tests of `host/baselines/devices`."""
