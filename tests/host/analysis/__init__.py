"""Tests of the analyses of records."""
