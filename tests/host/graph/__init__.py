"""Tests of `host/graph`."""
