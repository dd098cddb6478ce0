"""Graphs: CSR arrays, file formats, generators, and layout in coprocessor memory."""
