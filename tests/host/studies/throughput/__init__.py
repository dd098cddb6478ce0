"""Tests of the study `throughput`."""
