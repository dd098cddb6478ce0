"""Tests of `host/baselines`."""
