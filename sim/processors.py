"""Processors that this process may use, and the control groups that limit it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_ROOT = Path("/")


def kernel_text(file: Path) -> str:
    """Return the contents of a kernel file; empty if the file does not exist."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def first_number(text: str, pattern: str) -> int | None:
    """Return the number that a pattern finds in a kernel file; None if there is none."""
    found = re.search(pattern, text, re.MULTILINE | re.ASCII)
    return int(found[1]) if found else None


def processor() -> str:
    """Return the processor's identity, on which code for exactly this processor depends."""
    lines = kernel_text(Path("/proc/cpuinfo")).splitlines()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def control_groups(controller: str, root: Path) -> Iterator[tuple[int, Path]]:
    """Yield the folder of each control group of this process that may have a controller, ancestors included.

    Parameters
    ----------
    controller : str
        Name of the controller, such as ``memory``.
    root : Path
        The folder that contains ``proc`` and ``sys``.

    Yields
    ------
    version : int
        Version of control groups, 1 or 2.
    folder : Path
        The folder.
    """
    for line in kernel_text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        # In a container the name may be relative to the host's tree, while only the own group is mounted, as the root.
        group = PurePosixPath(name.lstrip("/"))
        if ".." not in group.parts:
            for each in (group, *group.parents):
                if controller in controllers.split(","):
                    yield 1, root / "sys/fs/cgroup" / controller / each
                elif number == "0" and not controllers:
                    yield 2, root / "sys/fs/cgroup" / each


def available_cores(root: Path = _ROOT) -> int:
    """Return the number of cores that this process may use, the default number of threads and jobs.

    It is the number of processors that it may run on, or the quota of a control group in whole processors if that is
    less; at least 1.

    Parameters
    ----------
    root : Path
        The folder that contains ``proc`` and ``sys``.
    """
    cores = len(os.sched_getaffinity(0))
    for version, folder in control_groups("cpu", root):
        names = ("cpu.max",) if version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        # Without a quota, its place has "max" or -1.
        quota = re.match(r"(\d+)\s+([1-9]\d*)\s", " ".join(kernel_text(folder / name) for name in names), re.ASCII)
        if quota:
            cores = min(cores, int(quota[1]) // int(quota[2]))
    return max(cores, 1)
