"""Tests of `host/command_line`."""
