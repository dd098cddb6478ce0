"""Smallest FIFOs with which a recorded run takes hardly more cycles, found by runs."""
