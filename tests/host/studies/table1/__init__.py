"""Tests of the study `table1`."""
