"""Tests of the study `wijs`."""
