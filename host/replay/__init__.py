"""Recorded runs made again up to a point, and recorded with waveforms from there."""

__all__: list[str] = []
