"""Amaranth description of the accelerator: knows nothing of the simulation around it or of the host program."""

__all__: list[str] = []
