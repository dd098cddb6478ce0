"""Long runs: kept in a folder while they go on, and taken up again."""

__all__: list[str] = []
