"""Amaranth description of the accelerator, independent of the simulation around it and of the host program."""
