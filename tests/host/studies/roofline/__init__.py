"""Tests of the roofline."""
