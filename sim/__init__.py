"""The machine around the hardware: memory, executors, counters, waveforms."""
