"""How fast one revision of the compiled executor is beside another."""

__all__: list[str] = []
