"""Tests of the comparison of revisions."""
