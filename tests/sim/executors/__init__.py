"""Tests of `sim/executors`."""
