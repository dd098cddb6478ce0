"""Tests of the cache of what is compiled."""
