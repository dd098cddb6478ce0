"""Waveforms: which signals, where each is shown and what its values are called, files in two formats, saved views."""

from sim.observation.waves.files import ENDLESS, Waves

__all__ = ["ENDLESS", "Waves"]
