"""The cache of compiled code: its folder, trust in its files, and eviction."""

__all__: list[str] = []
