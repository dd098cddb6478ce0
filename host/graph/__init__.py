"""Graphs: their form, formats and generators, and their place in coprocessor memory."""

__all__: list[str] = []
