"""The memory that is left, by fake files of the system."""

import os
import resource
from pathlib import Path

import pytest

from cyscc.host.graph import available_memory as module
from cyscc.host.graph.available_memory import AvailableMemory, available_memory, check_available_memory
from cyscc.host.output.errors import InputError

V1 = "sys/fs/cgroup/memory"
V2 = "sys/fs/cgroup"
MIB = 1 << 20


def system(root: Path, files: dict[str, str]) -> Path:
    """Write the files of a system with 1 GiB available."""
    for name, text in (
        {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    1048576 kB\nBuffers: 1 kB\n"} | files
    ).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


NAMES = {
    V1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    V2: ("memory.max", "memory.current", "inactive_file"),
}
NO_LIMIT = 2**63 - 4096


@pytest.mark.parametrize(
    ("cgroup", "top", "groups", "left"),
    [
        ("", V2, {}, None),
        ("0::/", V2, {}, None),
        ("0::/a/b", V2, {"/a/b": ("max", 5, 0)}, None),
        ("0::/a/b", V2, {"/a/b": (900 * MIB, 0, 0)}, 900),
        ("0::/a", V2, {"/a": (9000 * MIB, 0, 0)}, None),
        # An ancestor has less, and what files take there can be had.
        ("0::/a/b", V2, {"/a/b": (900 * MIB, 0, 0), "/a": (800 * MIB, 300 * MIB, 100 * MIB)}, 600),
        # A namespace of its own: the group is the root.
        ("0::/", V2, {"": (10 * MIB, 11 * MIB, 0)}, 0),
        # A name outside of what can be seen.
        ("0::/../a", V2, {"": (1, 0, 0)}, None),
        # Version 1; no limit is a large number there.
        ("5:cpu:/x\n4:memory:/d/e\n0::/", V1, {"/d/e": (NO_LIMIT, 5, 0), "/d": (70 * MIB, 30 * MIB, 10 * MIB)}, 50),
        # In a container the name is the host's, and the own group is mounted at the top.
        ("4:cpu,memory:/docker/1234", V1, {"": (64 * MIB, 0, 0)}, 64),
        ("4:cpu:/", V1, {"": (64 * MIB, 0, 0)}, None),
    ],
)
def test_control_groups(
    tmp_path: Path, cgroup: str, top: str, groups: dict[str, tuple[object, int, int]], left: int | None
) -> None:
    limit, used, cache = NAMES[top]
    files = {"proc/self/cgroup": f"{cgroup}\n"}
    for folder, values in groups.items():
        files[f"{top}{folder}/{limit}"], files[f"{top}{folder}/{used}"] = f"{values[0]}\n", f"{values[1]}\n"
        files[f"{top}{folder}/memory.stat"] = f"anon 5\n{cache} {values[2]}\nactive_file 7\n"
    expected = (
        AvailableMemory(1024 * MIB, "this machine") if left is None else AvailableMemory(left * MIB, "control group")
    )
    assert available_memory(system(tmp_path, files)) == expected


@pytest.mark.parametrize(("limit", "name", "column"), [("RLIMIT_AS", "ulimit -v", 0), ("RLIMIT_DATA", "ulimit -d", 5)])
def test_limits_of_the_process(
    tmp_path: Path, limit: str, name: str, column: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [str(100 + number) for number in range(7)]
    system(tmp_path, {"proc/self/statm": " ".join(pages) + "\n"})
    which = getattr(resource, limit)
    most = {which: 500 * MIB}
    monkeypatch.setattr(resource, "getrlimit", lambda each: (most.get(each, resource.RLIM_INFINITY), 0))
    expected = 500 * MIB - (100 + column) * os.sysconf("SC_PAGE_SIZE")
    assert available_memory(tmp_path) == AvailableMemory(expected, name)
    most[which] = 4096
    assert available_memory(tmp_path) == AvailableMemory(0, name)


def test_this_machine_has_room(tmp_path: Path) -> None:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert MIB < available_memory().bytes <= total
    # A system that does not say what is available says what is free.
    assert 0 < available_memory(tmp_path).bytes <= total


def test_what_does_not_fit_is_refused_with_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: AvailableMemory(2_500_000_000, "control group"))
    check_available_memory("4 edges", 2_500_000_000)
    expected = r"^4 edges need about 2.6 GB of memory, and 2.5 GB are left \(control group\)$"
    with pytest.raises(InputError, match=expected):
        check_available_memory("4 edges", 2_600_000_000)
