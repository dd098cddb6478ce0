"""Tests of runs that are made again."""
