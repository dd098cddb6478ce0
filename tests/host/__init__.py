"""Tests of the host program."""
