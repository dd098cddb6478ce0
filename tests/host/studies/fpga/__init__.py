"""Tests of the FPGA reports."""
