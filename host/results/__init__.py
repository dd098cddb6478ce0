"""Results as text, plots and documents."""

__all__: list[str] = []
