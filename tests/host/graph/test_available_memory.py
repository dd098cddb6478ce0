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


def group(folder: str, limit: str, used: str, cache: int = 0) -> dict[str, str]:
    """Return the files of a control group."""
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    if not folder.startswith(V1):
        names = ("memory.max", "memory.current", "inactive_file")
    return {
        f"{folder}/{names[0]}": f"{limit}\n",
        f"{folder}/{names[1]}": f"{used}\n",
        f"{folder}/memory.stat": f"anon 5\n{names[2]} {cache}\nactive_file 7\n",
    }


MACHINE = AvailableMemory(1024 * MIB, "this machine")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, MACHINE),
        ({"proc/self/cgroup": "0::/\n"}, MACHINE),
        ({"proc/self/cgroup": "0::/a/b\n", **group(f"{V2}/a/b", "max", "5")}, MACHINE),
        (
            {"proc/self/cgroup": "0::/a/b\n", **group(f"{V2}/a/b", f"{900 * MIB}", "0")},
            AvailableMemory(900 * MIB, "control group"),
        ),
        ({"proc/self/cgroup": "0::/a\n", **group(f"{V2}/a", f"{9000 * MIB}", "0")}, MACHINE),
        # An ancestor has less, and what files take there can be had.
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                **group(f"{V2}/a/b", f"{900 * MIB}", "0"),
                **group(f"{V2}/a", f"{800 * MIB}", f"{300 * MIB}", 100 * MIB),
            },
            AvailableMemory(600 * MIB, "control group"),
        ),
        # A namespace of its own: the group is the root.
        (
            {"proc/self/cgroup": "0::/\n", **group(V2, f"{10 * MIB}", f"{11 * MIB}")},
            AvailableMemory(0, "control group"),
        ),
        # A name outside of what can be seen.
        ({"proc/self/cgroup": "0::/../a\n", **group(V2, "1", "0")}, MACHINE),
        # Version 1; no limit is a large number there.
        (
            {
                "proc/self/cgroup": "5:cpu:/x\n4:memory:/d/e\n0::/\n",
                **group(f"{V1}/d/e", "9223372036854771712", "5"),
                **group(f"{V1}/d", f"{70 * MIB}", f"{30 * MIB}", 10 * MIB),
            },
            AvailableMemory(50 * MIB, "control group"),
        ),
        # In a container the name is the host's, and the own group is mounted at the top.
        (
            {"proc/self/cgroup": "4:cpu,memory:/docker/1234\n", **group(V1, f"{64 * MIB}", "0")},
            AvailableMemory(64 * MIB, "control group"),
        ),
        ({"proc/self/cgroup": "4:cpu:/\n", **group(V1, f"{64 * MIB}", "0")}, MACHINE),
    ],
)
def test_control_groups(tmp_path: Path, files: dict[str, str], expected: AvailableMemory) -> None:
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
