"""Tests of `host/interface`."""
