"""Tests of `sim/observation/waves`."""
