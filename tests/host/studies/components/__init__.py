"""Tests of the study `components`."""
