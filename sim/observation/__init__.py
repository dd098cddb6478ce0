"""Observation of a run: causes and counters, waveforms, diagnosis of hangs."""
