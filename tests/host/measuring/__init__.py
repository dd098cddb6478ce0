"""Tests of `host/measuring`."""
