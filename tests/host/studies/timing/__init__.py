"""Tests of the timing report."""
