"""Sweeps: studies of one's own, whose points are recorded runs in folders named by all that went in."""

__all__: list[str] = []
