"""Sweeps: a user's own studies, whose points are recorded runs in folders named by their inputs' digests."""
