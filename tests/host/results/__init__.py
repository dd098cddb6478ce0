"""Tests of `host/results`."""
