"""Tests of the studies `li`."""
