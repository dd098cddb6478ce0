"""Graphs: CSR arrays, file formats, generators, and layout in coprocessor memory."""

__all__: list[str] = []
