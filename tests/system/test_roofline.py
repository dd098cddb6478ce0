"""The roofline of searches on real machines: no level is faster than any limit, and each limit can be what binds."""

import json
import math
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import Mock
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from cyscc.host.analysis.roofline.analysis import Roofline
from cyscc.host.analysis.roofline.limits import Bounds
from cyscc.host.command_line.main import main
from cyscc.host.driver.search import BfsRun, Checkpointer, breadth_first_search
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph, rmat_graph
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.record.parts import PARTS_FOLDER, read_parts
from cyscc.host.record.reader import Record
from cyscc.host.record.stored import StoredTables
from cyscc.host.runs.recorder import RunRecorder
from cyscc.host.specification.run import RunSpec
from cyscc.hw.config import PRESETS
from cyscc.sim.hardware import ring_turn
from cyscc.sim.intervals import LONGEST_INTERVAL
from cyscc.sim.machine import Machine, create_machine
from cyscc.sim.memory import Hc2
from tests.host.analysis.roofline.samples import bounds_of
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph
from tests.system.runs import CYCLE_LIMIT, MEMORIES, made, search
from tests.test_docs import described_fields, fields

HURRIED = Hc2(request_travel=0, bank_busy=1, response_travel=0, flush_travel=1)
SLOW_BANKS = Hc2(bank_busy=90, port_queue=4)
WIDE = {name: GRAPHS[name] for name in ("hub", "repeated edges", "bipartite both ways", "nested cycles", "tree out")}
FULL = [name for name, config in PRESETS.items() if config.bfs_kernels == 16 and not config.bfs_only]
_ONE_ENGINE = [pytest.param(name, marks=pytest.mark.long) for name in FULL if name.endswith("-1ae")]
SHORT = [
    *product(("test",), ("hc2", "fixed:1", "fixed:400", "stress", "hbm2")),
    *product(("fast-test", "hc2", "published", "fast"), ("hc2", "fixed:75")),
]
LARGE = {
    "messy": messy_graph(1500, 9000, 1),
    "uniform": random_graph(1000, 12, seed=2),
    "R-MAT": rmat_graph(1024, 8, seed=3),
}

RECORDERS: WeakKeyDictionary[Machine, tuple[TemporaryDirectory[str], RunRecorder]] = WeakKeyDictionary()
"""A machine has one record, whatever it searches."""


class LastSearch(Record):
    """The tables of a machine's last search: in the last part of its record."""

    def __init__(self, folder: Path) -> None:
        _, parts, _ = read_parts(folder)
        self._stored = StoredTables(folder, [*({} for _ in parts[1:]), parts[-1].tables], numbered=True)
        self._frames = {}
        self._checks = Mock()


def recorded(machine: Machine, graph: Graph, source: int, bounds: Bounds, **options: Any) -> tuple[BfsRun, Roofline]:
    """Search a graph with a record, and check its data of every level."""
    placed = PlacedGraph.place(machine, graph)
    if machine not in RECORDERS:
        folder = TemporaryDirectory()
        named: dict[str, Any] = {"config": machine.config, "memory": machine.memory.profile, "record": folder.name}
        spec = RunSpec(algorithm="bfs", graph="g", record_interval=LONGEST_INTERVAL, **named)
        RECORDERS[machine] = folder, RunRecorder(spec, Path(folder.name))
        RECORDERS[machine][1].start(machine, graph, source, Checkpointer())
    recorder = RECORDERS[machine][1]
    run = breadth_first_search(machine, placed, source, observer=recorder, **options)
    recorder.catch_up()
    roofline = Roofline.of(LastSearch(recorder.folder / PARTS_FOLDER), bounds)
    reached = run.levels >= 0
    edges = np.bincount(run.levels[reached], weights=graph.out_degrees()[reached], minlength=len(run.level_records))
    assert roofline.edges.tolist() == edges.tolist()
    assert roofline.cycles.tolist() == [level.cycles for level in run.level_records]
    return run, roofline


def shares(config: str, memory: str, graph: Graph) -> dict[str, list[float]]:
    """Return each limit's share of the cycles of every level of a search from vertex 0."""
    with made(config, memory) as machine:
        _, roofline = recorded(machine, graph, 0, bounds_of(config, memory))
    return dict(zip(roofline.bounds.names, (roofline.limits.T / roofline.cycles).tolist(), strict=True))


def violations(machine: Machine, graphs: dict[str, Graph], bounds: Bounds) -> list[tuple[str, int, str]]:
    """Return graph, level and limit wherever a level took fewer cycles than the limit."""
    found = []
    for name, graph in graphs.items():
        _, roofline = recorded(machine, graph, SOURCES.get(name, 0), bounds)
        for level, limits in enumerate((roofline.limits > roofline.cycles[:, None]).tolist()):
            found += [(name, level, limit) for limit, over in zip(bounds.names, limits, strict=True) if over]
    return found


@pytest.mark.parametrize(
    ("config", "memory"),
    [
        *SHORT,
        *(
            pytest.param(*pair, marks=pytest.mark.long)
            for pair in product(("test", "fast-test", *FULL), (*MEMORIES, "hbm2"))
            if pair not in SHORT
        ),
    ],
)
def test_no_level_is_faster_than_a_limit(config: str, memory: str) -> None:
    graphs = {**GRAPHS, **LARGE} if config == "test" else WIDE | LARGE
    with made(config, memory) as machine:
        assert violations(machine, graphs, bounds_of(config, memory)) == []


@pytest.mark.parametrize("memory", [HURRIED, SLOW_BANKS], ids=["hurried", "slow banks"])
@pytest.mark.parametrize("config", ["test", "hc2", "published"])
def test_no_level_is_faster_than_a_limit_of_another_memory(config: str, memory: Hc2) -> None:
    machine = create_machine(PRESETS[config], memory, cycle_limit=CYCLE_LIMIT)
    try:
        assert violations(machine, WIDE | LARGE, Bounds(PRESETS[config], memory)) == []
    finally:
        machine.close()


def test_published_ports_bind_saturated_levels() -> None:
    found = shares("published-1ae", "fixed:75", random_graph(2**13, 16, seed=3))
    assert max(found["ports"]) > 0.9
    assert max(found["imbalance"]) > 0.93


def test_hub_makes_its_port_bind_and_its_word_a_bank() -> None:
    pairs = [(0, v) for v in range(1, 2000)]
    found = shares("published-1ae", "fixed:75", graph_of(2000, pairs))
    assert found["imbalance"][0] > 0.9
    assert found["ports"][0] < 0.1
    found = shares("hc2", "hc2", graph_of(2000, [*pairs, *((target, 0) for _, target in pairs)]))
    assert found["busiest_bank"][1] > 0.9


def test_one_link_binds_where_all_neighbours_lie_behind_it() -> None:
    # Words of every 64th vertex are 512 bytes apart: one link, 16 banks.
    targets = [64 * v for v in range(1, 129)]
    graph = graph_of(64 * 129, [*((0, t) for t in targets), *((t, other) for t in targets for other in targets)])
    assert shares("published-1ae", "hc2", graph)["busiest_link"][1] > 0.9


def test_queues_at_the_crossbar_explain_saturated_levels() -> None:
    graph = random_graph(2**13, 16, seed=3)
    with made("hc2", "hc2") as machine:
        _, roofline = recorded(machine, graph, 0, bounds_of("hc2", "hc2"))
    level = int(roofline.cycles.argmax())
    assert roofline.crossbar is not None
    assert roofline.limits[level].max() < 0.75 * roofline.cycles[level]
    assert 0.85 < roofline.crossbar[level] / roofline.cycles[level] < 1
    assert roofline.totals["roof"].cycles < roofline.totals["expected"].cycles < roofline.total_cycles


def test_latency_binds_outstanding_reads() -> None:
    assert max(shares("test", "fixed:400", LARGE["uniform"])["outstanding"]) > 0.95


@pytest.mark.parametrize("config", ["test", "fast-test", "hc2", "published", "fast", *_ONE_ENGINE])
def test_level_overhead_binds_small_levels(config: str) -> None:
    assert min(shares(config, "fixed:75", GRAPHS["chain"])["overhead"]) > 0.75


def test_ring_binds_where_few_vertices_can_wait() -> None:
    assert shares("test", "fixed:1", graph_of(200, [(0, v) for v in range(1, 200)]))["ring"][0] > 0.4


@pytest.mark.parametrize("config", ["hc2", "test", pytest.param("hc2-1ae", marks=pytest.mark.long)])
def test_turn_is_that_of_the_hardware(config: str) -> None:
    # Whatever the latency, a level ends when the token comes back: its cycles go up in steps of a turn.
    cycles = set()
    for latency in range(1, 120, 7):
        with made(config, f"fixed:{latency}") as machine:
            cycles.add(search(machine, GRAPHS["one edge"], 0).level_records[0].cycles)
    assert math.gcd(*(count - min(cycles) for count in cycles)) == ring_turn(PRESETS[config])


def test_record_changes_nothing() -> None:
    seen = []
    for listen in (False, True):
        with made("test", "hc2") as machine:
            if listen:
                run, _ = recorded(machine, GRAPHS["random"], 0, bounds_of("test", "hc2"), slack=2000)
            else:
                run = search(machine, GRAPHS["random"], 0)
            seen.append((run.level_records, machine.cycle, machine.statistics()))
    assert seen[0] == seen[1]


def test_search_that_was_restarted() -> None:
    with made("test", "fixed:400") as machine:
        run, _ = recorded(machine, GRAPHS["random dense"], 0, bounds_of("test", "fixed:400"), slack=0)
    assert run.retries > 0


def test_json_fields_are_described(folder: Path) -> None:
    (folder / "g.txt").write_text("0 1\n")
    # Links and banks have fields besides.
    options = ["--config", "test", "--memory", "hc2", "--roofline", "--quiet", "--json", "json"]
    assert main(["bfs", "g.txt", "--source", "0", *options]) == 0
    roofline = json.loads((folder / "json").read_text())["roofline"]
    roofline["limits"] = sorted(roofline["limits"])
    found = fields({"roofline": roofline}) | {f"roofline.levels.{name}" for name in roofline["levels"][0]}
    assert found == described_fields("With `--roofline`, `bfs` has also:")
