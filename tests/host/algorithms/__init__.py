"""Tests of `host/algorithms`."""
