"""The paper's table and figures from simulation: what is measured, how it is kept, and how it is shown."""

__all__: list[str] = []
