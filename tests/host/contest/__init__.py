"""Tests of `host/contest`."""
