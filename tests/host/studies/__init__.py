"""Tests of `host/studies`."""
