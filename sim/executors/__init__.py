"""Executors: what executes the hardware, cycle by cycle, against the one memory model."""

# Empty, so that the command line can ask for names without what takes long to import.
__all__: list[str] = []
