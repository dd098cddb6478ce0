"""Tests of the page of records."""
