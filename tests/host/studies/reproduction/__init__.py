"""Tests of the reproduction of the paper's table and figures."""
