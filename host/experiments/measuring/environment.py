"""The environment of measurements: processor, versions of the tools, revision of the sources."""

import platform
import subprocess
from pathlib import Path
from typing import Any

from cyscc import host
from cyscc.host.runs.environment import processor_name
from cyscc.host.specification.run import available_cores


def root_folder() -> Path:
    """Return the folder of the sources."""
    return Path(next(iter(host.__path__))).resolve().parent


def revision_of(root: Path) -> str | None:
    """Return the Git revision of a folder, with ``-dirty`` appended if there are uncommitted changes.

    None if the folder is not the root of a Git repository, or Git is not installed.
    """
    try:
        command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return result.stdout.strip() if result.returncode == 0 and (root / ".git").exists() else None


def describe_environment() -> dict[str, Any]:
    """Return machine, versions of the tools and revision of the sources, as JSON values."""
    from cyscc.sim.executors.comparison.contenders import tool_versions

    return {
        "machine": {"processor": processor_name(), "cores": available_cores(), "system": platform.platform()},
        "tools": {"python": platform.python_version(), **tool_versions()},
        "revision": revision_of(root_folder()),
    }
