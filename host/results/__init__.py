"""Results, for people and for programs."""

__all__: list[str] = []
