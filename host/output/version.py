"""Versions in results: that of the program, and that of the documents' schema."""

import importlib.metadata
from typing import Any

__all__ = ["SCHEMA", "identity", "version"]

SCHEMA = 1
"""Schema version of all commands' JSON; increased when a field is removed or changes its meaning."""


def version() -> str:
    """Return the version of the installed program; ``(not installed)`` if it runs from its sources."""
    try:
        return importlib.metadata.version("cyscc")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def identity() -> dict[str, Any]:
    """Return the first fields of every JSON document."""
    return {"schema": SCHEMA, "version": version()}
