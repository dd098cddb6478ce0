"""Profile of the compiled executor: a small one in this process, and its table."""

import platform
from typing import Any

import pytest

import cyscc.host.experiments.benchmark.profile as profile_module
from cyscc.host.experiments.benchmark.profile import ProfileRequest, profile_markdown
from cyscc.host.experiments.benchmark.search import Workload

WORKLOAD = Workload(config="test", memory="hc2", vertices=1 << 12, degree=8)


def test_parts_of_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    # A microsecond or more for each instruction that is counted.
    monkeypatch.setattr(profile_module, "_EVERY", 4001)
    request = ProfileRequest(graph=WORKLOAD.graph, workload=WORKLOAD, repetitions=4)
    found = request.measure(WORKLOAD.graph.generate(), verify=True)
    one, two = found["rows"]
    assert (one["threads"], two["threads"]) == (1, 2)
    assert one["samples"] >= 10
    # The kernels take most of the time, and are found by the names of functions in the library.
    assert max(one["processor"], key=one["processor"].get) == "kernels: logic"
    assert sum(one["processor"].values()) == pytest.approx(one["real"], rel=0.9)
    assert 0.1 < found["requests"] < 64
    assert request.summary(found).endswith(" ns a cycle on 2")
    if platform.machine() == "x86_64":
        instructions = found["instructions"]
        assert {"kernels: logic", "kernels: ports", "shells", "wiring", "memory: prepare"} <= set(instructions)
        # A kernel has some hundred cells, each an instruction or more for all lanes.
        assert 500 < instructions["kernels: logic"] < 20_000
        assert instructions["elsewhere"] < 500


def test_table() -> None:
    document: Any = {
        "machine": {"processor": "a processor", "cores": 2},
        "revision": None,
        "config": "hc2",
        "memory": "hc2",
        "graph": "2^12 × 8",
        "rows": [
            {
                "threads": 1,
                "samples": 1000,
                "real": 1010,
                "processor": {"memory: serve": 100, "memory: accept": 300, "kernels: logic": 600},
            },
            {"threads": 2, "samples": 1100, "real": 600, "processor": {"kernels: logic": 650, "threads: meeting": 50}},
        ],
        "instructions": {"memory: serve": 1000, "memory: accept": 2000, "kernels: logic": 9000},
        "requests": 20,
    }
    lines = profile_markdown(document).splitlines()
    assert lines[0] == (
        "configuration hc2, memory hc2, graph 2^12 × 8; a processor, 2 cores; revision not in a repository"
    )
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert table[0] == ["part", "1 thread", "", "instructions", "an ns", "2 threads"]
    assert table[2:] == [
        ["kernels: logic", "600", "60.0%", "9,000", "15.0", "650"],
        ["memory: accept", "300", "30.0%", "2,000", "6.7", "0"],
        ["memory: serve", "100", "10.0%", "1,000", "10.0", "0"],
        ["threads: meeting", "0", "0.0%", "0", "", "50"],
        ["all", "1,000", "100.0%", "12,000", "12.0", "700"],
    ]
    assert lines[-3:] == [
        "nanoseconds of processor time of a cycle, and instructions of a cycle on one thread; 1,000 and 1,100 samples",
        "real time of a cycle: 1,010 ns on one thread, 600 ns on two",
        "20.0 requests a cycle; for each 20.0 ns and 150 instructions of the memory",
    ]
