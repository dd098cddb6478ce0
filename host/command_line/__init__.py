"""The commands of the command line, one a module: each adds its parser and runs."""

__all__: list[str] = []
