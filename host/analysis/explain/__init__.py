"""Explanations: why a recorded run spent its cycles as it did, for terminals, pages and programs."""
