"""Tables and JSON."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cyscc.host.driver.components import ComponentRun, SearchTotals, strong_components
from cyscc.host.driver.search import BfsRun, Level, breadth_first_search
from cyscc.host.driver.verification import Checked
from cyscc.host.graph.csr import Graph, trim
from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.output.files import version, write_json
from cyscc.host.runs.results import BfsResult, SccResult, Setting, Wall
from cyscc.host.specification.run import RunSpec
from tests.host.fake_coprocessor import FakeCoprocessor

SETTING = Setting(
    spec=RunSpec(algorithm="scc", graph="dir/g.txt", config="hc2", memory="fixed:75", threads=2),
    vertices=7115,
    edges=103689,
    clock_hz=150e6,
    uploaded_bytes=1000,
)
CHECKED = Checked(reference="scipy", neighbour_blocks=2, graph_words=10, level_words=0)
WALL = Wall(
    load=0.5, build=1.25, simulate=2.0, record=0.0, verify=0.04, simulated_cycles=300_000, peak_memory_bytes=123_000_000
)


def graph() -> Graph:
    edges = np.array([[0, 1], [1, 0], [1, 2], [2, 3], [3, 2], [4, 4]], np.uint32).T
    return Graph.from_edges(5, edges[0], edges[1], ids=np.array([10, 20, 30, 40, 50]))


def bfs_result(run: BfsRun, **values: Any) -> BfsResult:
    common = {"graph": graph(), "setting": SETTING, "wall": WALL, "checked": None, "statistics": {}}
    return BfsResult(run=run, **{**common, **values})


def scc_result(run: ComponentRun, **values: Any) -> SccResult:
    common = {"graph": graph(), "setting": SETTING, "wall": WALL, "checked": CHECKED, "statistics": {}}
    return SccResult(run=run, **{**common, "labels": np.array([0, 0, 2, 2, 4], np.uint32), **values})


def lookup(document: dict[str, Any], path: str) -> Any:
    value: Any = document
    for key in path.split("."):
        value = value[key]
    return value


def test_scc_document() -> None:
    coprocessor = FakeCoprocessor()
    transpose = graph().transpose()
    run = strong_components(
        coprocessor,
        PlacedGraph.place(coprocessor, graph()),
        PlacedGraph.place(coprocessor, transpose),
        trim(graph(), transpose),
    )
    document = scc_result(run, statistics={"memory": {"reads": 1}}).document()
    expected = {
        "graph.vertices": 7115,
        "graph.edges": 103689,
        "components.count": 3,
        "components.largest": 2,
        "trimmed": 0,
        "iterations": 3,
        "cycles.total": run.cycles,
        "cycles.forward": run.forward.cycles,
        "cycles.backward": run.backward.cycles,
        "cycles.intersection": run.intersection_cycles,
        "seconds": run.cycles / 150e6,
        "edges_traversed": run.forward.edges + run.backward.edges,
        "gteps": pytest.approx((run.forward.edges + run.backward.edges) * 0.15 / run.cycles),
        "graph.dropped_edges": None,
        "verified": True,
        "checked": {"reference": "scipy", "neighbour_blocks": 2, "graph_words": 10, "level_words": 0},
        "wall.build": 1.25,
        "wall.simulate": 2.0,
        "wall.cycles_per_second": 150_000.0,
        "schema": 1,
        "version": version(),
        "config": "hc2",
        "configuration.engines": 4,
        "memory": "fixed:75",
        "memory_profile.latency": 75,
        "options": {"algorithm": "scc", "undirected": False, "simplify": False, "queue_slack": None},
        "executor": "compiled",
        "retries": 0,
        "statistics": {"memory": {"reads": 1}},
        "longest_iteration.start": 10,
        "longest_iteration.number": 1,
    }
    assert {path: lookup(document, path) for path in expected} == expected
    cycles = document["cycles"]
    assert cycles["total"] == cycles["forward"] + cycles["backward"] + cycles["intersection"] == coprocessor.cycle
    longest = document["longest_iteration"]
    assert longest["cycles"] == longest["intersection"] + sum(
        level["cycles"] for phase in ("forward", "backward") for level in longest[phase]["levels"]
    )


def test_bfs_document() -> None:
    coprocessor = FakeCoprocessor()
    run = breadth_first_search(coprocessor, PlacedGraph.place(coprocessor, graph()), 1)
    document = bfs_result(run).document()
    expected = {
        "source": 20,
        "reached": 4,
        "levels": [
            {"frontier": 1, "pushed": 2, "cycles": 103, "start": 0},
            {"frontier": 2, "pushed": 1, "cycles": 103, "start": 103},
            {"frontier": 1, "pushed": 0, "cycles": 101, "start": 206},
        ],
        "duplicates": 0,
        "cycles.total": 307,
        "seconds": 307 / 150e6,
        "edges_traversed": 5,
        "gteps": pytest.approx(5 * 0.15 / 307),
        "verified": None,
        "checked": None,
        "wall.build": 1.25,
        "wall.simulate": 2.0,
        "wall.cycles_per_second": 150_000.0,
        "retries": 0,
    }
    assert {path: lookup(document, path) for path in expected} == expected


def test_without_cycles_there_is_no_throughput() -> None:
    run = ComponentRun(colours=np.arange(1, 4, dtype=np.uint32), components=3, trimmed=3)
    wall = Wall(load=0, build=0, simulate=0, record=0, verify=0, simulated_cycles=0, peak_memory_bytes=0)
    document = scc_result(run, wall=wall).document()
    assert (document["gteps"], document["seconds"], document["longest_iteration"]) == (0.0, 0.0, None)
    assert document["wall"]["cycles_per_second"] == 0.0


def test_json_file_ends_with_a_newline(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_json(str(path), {"a": [1, None]})
    assert path.read_text().endswith("}\n")
    assert json.loads(path.read_text()) == {"a": [1, None]}


def test_scc_table() -> None:
    run = ComponentRun(
        colours=np.empty(0, np.uint32),
        components=5816,
        trimmed=5739,
        iterations=77,
        forward=SearchTotals(cycles=150_000, edges=100_000),
        backward=SearchTotals(cycles=45_000, edges=25_000),
        intersection_cycles=105_000,
        retries=1,
    )
    assert str(scc_result(run, labels=np.zeros(1300, np.uint32))).splitlines() == [
        "components of dir/g.txt: 7,115 vertices, 103,689 edges",
        "machine       hc2, memory fixed:75, executor compiled, 2 threads",
        "components    5,816, the largest of 1,300 vertices",
        "trimmed       5,739 vertices",
        "iterations    77",
        "forward       150,000 cycles   50.0%",
        "backward       45,000 cycles   15.0%",
        "intersection  105,000 cycles   35.0%",
        "total         300,000 cycles  100.0%",
        "simulated     2.000 ms at 150 MHz",
        "traversed     125,000 edges, 0.062 GTEPS",
        "verified      yes",
        "restarts      1, the queues having overflowed",
        "wall time     load 0.5 s, build 1.2 s, simulate 2.0 s (150,000 cycles/s), verify 0.0 s",
    ]


@pytest.mark.parametrize(
    ("dropped", "text"), [(0, "0 edges dropped, 103,689 left"), (1, "1 edge dropped, 103,688 left")]
)
def test_dropped_edges_are_told(dropped: int, text: str) -> None:
    setting = replace(SETTING, dropped_edges=dropped)
    table = str(bfs_result(bfs_run(1), setting=setting))
    assert f"dir/g.txt: 7,115 vertices, 103,689 edges\nsimplified  {text}\n" in table
    document = bfs_result(bfs_run(1), setting=setting).document()
    assert (document["graph"]["edges"], document["graph"]["dropped_edges"]) == (103_689, dropped)


def bfs_run(levels: int) -> BfsRun:
    return BfsRun(
        source=2,
        levels=np.array([-1, 1, 0, 2, -1], np.int32),
        level_records=tuple(Level(1, int(number < levels - 1), 1000, 1000 * number) for number in range(levels)),
        reached=3,
        duplicates=1,
        edges_traversed=1234,
        retries=0,
    )


def test_bfs_table() -> None:
    result = bfs_result(bfs_run(3))
    assert str(result).splitlines() == [
        "components of dir/g.txt: 7,115 vertices, 103,689 edges",
        "machine     hc2, memory fixed:75, executor compiled, 2 threads",
        "source      30",
        "reached     3 vertices in 3 levels",
        "duplicates  1 vertex pushed again",
        "cycles      3,000",
        "simulated   20.000 us at 150 MHz",
        "traversed   1,234 edges, 0.062 GTEPS",
        "verified    not checked",
        "wall time   load 0.5 s, build 1.2 s, simulate 2.0 s (150,000 cycles/s), verify 0.0 s",
        "",
        "levels",
        "  level  frontier  pushed  cycles",
        "      0         1       1   1,000",
        "      1         1       1   1,000",
        "      2         1       0   1,000",
    ]
    assert result.level_records["start"].tolist() == [0, 1000, 2000]


@pytest.mark.parametrize(
    ("clock", "shown"),
    [(3e3, "1.000 s"), (3001.0, "999.667 ms"), (3e6, "1.000 ms"), (3e9, "1.000 us"), (4e10, "75 ns")],
)
def test_simulated_time_has_the_unit_that_suits_it(clock: float, shown: str) -> None:
    table = str(bfs_result(bfs_run(3), setting=replace(SETTING, clock_hz=clock)))
    assert f"simulated   {shown} at {clock / 1e6:g} MHz\n" in table


@pytest.mark.parametrize(("levels", "lines"), [(31, 31), (32, 30), (100_000, 30)])
def test_of_very_many_levels_the_middle_is_left_out(levels: int, lines: int) -> None:
    table = str(bfs_result(bfs_run(levels), checked=CHECKED)).splitlines()
    head, _, *rows = table[table.index("") + 1 :]
    assert len(rows) == lines
    assert head == ("levels" if levels == 31 else f"levels: 30 of {levels:,}")
    assert rows[-1].split()[0] == f"{levels - 1:,}"


def test_one_is_not_many() -> None:
    run = ComponentRun(colours=np.array([1], np.uint32), components=1, trimmed=1)
    alone = replace(SETTING, spec=replace(SETTING.spec, threads=1), vertices=1, edges=1)
    table = str(scc_result(run, setting=alone, labels=np.zeros(1, np.uint32)))
    for part in ("1 vertex, 1 edge\n", "the largest of 1 vertex\n", "1 thread\n", "trimmed       1 vertex\n"):
        assert part in table
