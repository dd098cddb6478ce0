"""Where a benchmark ran: processor, versions, revision of the sources."""

import platform
import subprocess
from pathlib import Path
from typing import Any

import host
from host.measuring.processor import cores, processor_name
from sim.executors.comparison.contenders import tool_versions

__all__ = ["describe_setting", "revision_of", "root_folder"]


def root_folder() -> Path:
    """Return the folder of the sources."""
    return Path(next(iter(host.__path__))).resolve().parent


def revision_of(root: Path) -> str | None:
    """Return the revision that a folder holds, with ``-dirty`` behind it if it was changed since.

    It is None if the folder is no git repository's own, or there is no git.
    """
    try:
        command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return result.stdout.strip() if result.returncode == 0 and (root / ".git").exists() else None


def describe_setting() -> dict[str, Any]:
    """Return machine, versions of the tools and revision of the sources, JSON-able."""
    return {
        "machine": {"processor": processor_name(), "cores": cores(), "system": platform.platform()},
        "tools": {"python": platform.python_version(), **tool_versions()},
        "revision": revision_of(root_folder()),
    }
