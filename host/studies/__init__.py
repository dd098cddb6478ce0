"""Studies: a folder for each figure, table or report."""

__all__: list[str] = []
