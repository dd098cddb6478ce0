"""Tests of `host/specification`."""
