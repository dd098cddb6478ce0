"""The machine around the hardware: memory, executors, counters, waveforms."""

__all__: list[str] = []
