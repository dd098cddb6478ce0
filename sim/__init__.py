"""The machine around the hardware: its memory, the engines that execute it, counters, waveforms."""

__all__: list[str] = []
