"""Inputs changed at random."""
