"""Tests of `host/driver`."""
