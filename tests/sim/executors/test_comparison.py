"""The exported machine as one Verilator model: what the compiled executor does, cycle for cycle.

Only the benchmark builds this model, which takes long, so what it does is looked at in the long run.
"""

from pathlib import Path

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.config import PRESETS
from cyscc.sim.errors import MemoryAccessError
from cyscc.sim.executors.comparison.build import connections_header, export_machine
from cyscc.sim.executors.comparison.contenders import Stopwatch, executor_maker
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import parse_profile
from tests.sim.executors.outcomes import CROWD, TANGLE, WORDS, assert_equal, dispatch_level, outcome
from tests.system.covering import COVERING

TEST = PRESETS["test"]

SMALL = COVERING["3"]
"""Several AEs, so that they are linked; a machine with more kernels takes much longer to build as one model."""


MAKE = executor_maker("verilator", SMALL)


def whole_model(memory: str) -> Machine:
    return create_machine(SMALL, parse_profile(memory), executor=MAKE, cycle_limit=100_000)


@pytest.mark.long
@pytest.mark.parametrize(
    ("memory", "graph", "source"),
    [
        ("hc2", TANGLE, None),
        ("fixed:1", TANGLE, None),
        ("stress:5", CROWD, 0),
    ],
)
def test_same_as_the_compiled_executor(memory: str, graph: Graph, source: int | None) -> None:
    machines = create_machine(SMALL, parse_profile(memory)), whole_model(memory)
    outcomes = [outcome(machine, graph, source=source, counters=False) for machine in machines]
    for machine in machines:
        machine.close()
    assert_equal(*outcomes)


@pytest.mark.long
def test_what_goes_wrong_is_reported_as_by_the_executors() -> None:
    messages = []
    for machine in (whole_model("fixed:9"), create_machine(SMALL, parse_profile("fixed:9"))):
        dispatch_level(machine, word=WORDS[0] | 0xF000_0000 << 32)
        with pytest.raises(MemoryAccessError) as caught:
            machine.wait()
        messages.append(str(caught.value))
        machine.close()
    assert messages[0] == messages[1]
    assert messages[0].startswith("memory: read of 4 bytes at address ")


def test_header_names_every_port(tmp_path: Path) -> None:
    sources = export_machine(TEST, tmp_path)
    assert [path.name for path in sources] == [
        "bfs_kernel.v",
        "intersection_kernel.v",
        "application_engine.v",
        "accelerator.v",
    ]
    header = connections_header(sources[-1])
    assert "    pins[1].ports[0].read_payload.bind(top.e1_port_0_read_payload);" in header
    # Ten of every memory port, 13 more of each AE.
    assert header.count(".bind(") == TEST.engines * (10 * TEST.ports + 13)


@pytest.mark.long
def test_stopwatch_counts_runs_only() -> None:
    machine = whole_model("fixed:9")
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
