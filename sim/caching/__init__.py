"""The cache of what is compiled: its folder, what is trusted in it, and how much of it is kept."""

__all__: list[str] = []
