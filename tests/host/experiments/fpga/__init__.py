"""Tests of the synthesis report."""
