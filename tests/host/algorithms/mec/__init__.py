"""Tests of `host/algorithms/mec`."""
