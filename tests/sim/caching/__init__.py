"""Tests of the cache of compiled code."""
