"""Other ways to execute the exported hardware, for comparison: the same cycles on the same memory, slower."""

__all__: list[str] = []
