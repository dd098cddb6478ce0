"""Waveforms: signals with their scopes and value names, files in two formats, saved views for viewers."""

from cyscc.sim.observation.waves.files import ENDLESS, Waves

__all__ = ["ENDLESS", "Waves"]
