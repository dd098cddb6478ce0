"""Tests of the memory model."""
