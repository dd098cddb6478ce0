"""What made a result: the program's version, and that of the form of its results."""

import importlib.metadata
from typing import Any

__all__ = ["SCHEMA", "identity", "version"]

SCHEMA = 1
"""Version of the JSON of all commands; a field that goes or changes its meaning makes it one more."""


def version() -> str:
    """Return the version of the installed program, ``(not installed)`` when it runs from its sources alone."""
    try:
        return importlib.metadata.version("cyscc")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def identity() -> dict[str, Any]:
    """Return what every JSON document begins with."""
    return {"schema": SCHEMA, "version": version()}
