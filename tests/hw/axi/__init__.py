"""Tests of the AXI adapters."""
