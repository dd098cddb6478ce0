"""What can be seen of a run: causes and counters, waveforms, a diagnosis of what is stuck."""

__all__: list[str] = []
