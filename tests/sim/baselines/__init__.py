"""Tests of the other ways to execute the hardware."""
