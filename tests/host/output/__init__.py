"""Tests of `host/output`."""
