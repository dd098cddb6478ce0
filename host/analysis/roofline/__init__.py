"""The roofline of a search: what ports, links, banks, ring and latency allow, against what was reached."""

__all__: list[str] = []
