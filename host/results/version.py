"""The version of the program."""

import importlib.metadata

__all__ = ["version"]


def version() -> str:
    """Return the version of the installed program, ``(not installed)`` when it runs from its sources alone."""
    try:
        return importlib.metadata.version("cyscc")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"
