"""Tests of the machine around the hardware."""
