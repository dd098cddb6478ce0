"""Tests of `sim/observation`."""
