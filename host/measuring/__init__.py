"""Measurements: found again, scheduled, kept and described, for all studies alike."""

__all__: list[str] = []
