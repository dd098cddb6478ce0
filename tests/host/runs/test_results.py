"""Tables and JSON."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cyscc.host.driver.components import ComponentRun
from cyscc.host.driver.search import BfsRun, Level
from cyscc.host.driver.verification import Checked
from cyscc.host.graph.csr import Graph
from cyscc.host.runs.results import BfsResult, SccResult, Setting, Wall
from cyscc.host.specification.run import RunSpec

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


def test_without_cycles_there_is_no_throughput() -> None:
    run = ComponentRun(colours=np.arange(1, 4, dtype=np.uint32), components=3, trimmed=3)
    wall = Wall(load=0, build=0, simulate=0, record=0, verify=0, simulated_cycles=0, peak_memory_bytes=0)
    document = scc_result(run, wall=wall).document()
    assert (document["gteps"], document["seconds"], document["longest_iteration"]) == (0.0, 0.0, None)
    assert document["wall"]["cycles_per_second"] == 0.0


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
