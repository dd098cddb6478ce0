"""Tests of `host/answer`."""
