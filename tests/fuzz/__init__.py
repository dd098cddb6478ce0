"""Faults made on purpose, and what becomes of them."""
