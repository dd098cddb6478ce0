"""Tests of `host/devices`."""
