"""Tests of `host/experiments`."""
