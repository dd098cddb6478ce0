"""The machine around the hardware: its memory, the executors that execute it, counters, waveforms."""

__all__: list[str] = []
