"""Replays: recorded runs simulated again up to a point, with waveforms from there on."""
