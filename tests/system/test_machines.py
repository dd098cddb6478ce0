"""Whole runs on every kind of machine: each pair of options, the full sizes, shallow and deep FIFOs."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.driver.search import BfsRun
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph, rmat_graph
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.machine import Machine
from cyscc.sim.trust import GivenText
from tests.sim.executors.outcomes import CROWD, TANGLE, assert_equal, outcome
from tests.system.covering import COVERING, KNOWN, MACHINES, OFTEN, VALUES, pairs_of, possible_pairs, settings_of
from tests.system.graphs import GRAPHS, SOURCES, graph_of, messy_graph, repeated
from tests.system.runs import CYCLE_LIMIT, MEMORIES, check_bfs, check_scc, chunks_of, made

_ON_MEMORIES = [
    pytest.param(
        *each.values,
        memory,
        id=f"{each.id}-{memory}",
        marks=each.marks if memory != "stress" or each.id in KNOWN else pytest.mark.long,
    )
    for each in MACHINES
    for memory in MEMORIES
]
"""Machines and memories; `stress` has a library of its own for each shape of a machine, so it is on the known ones."""

_DEPTHS = {
    "one kernel, deep": PRESETS["test"].replace(
        engines=1, bfs_kernels=1, frontier_depth=512, neighbour_depth=512, word_depth=512, visit_depth=512
    ),
    "shallow, published": PRESETS["published-1ae"].replace(
        **{f"{name}_depth": 4 for name in ("frontier", "neighbour", "word", "visit", "reach", "colour", "unvisit")}
    ),
}

_STALLS = Path(__file__).parents[1] / "sim" / "memory" / "stalls.py"

_OFTEN = ("published", "hc2", "fast")

_FULL = [
    pytest.param(name, marks=() if name in _OFTEN else pytest.mark.long)
    for name, config in PRESETS.items()
    if config.bfs_kernels == 16
]
"""The presets with all kernels of an AE."""

_ODD = graph_of(6, [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (5, 0)])
"""Lists that begin and end at odd and even indices; the last one ends in the middle of a pair."""


_SHARED = graph_of(
    104, [(0, v) for v in range(1, 40)] + [e for v in range(1, 40) for w in range(64, 104) for e in ((v, w), (w, 0))]
)
_CYCLE = graph_of(94, [(v, v + 1 if v < 93 else 64) for v in range(64, 94) for _ in range(20)])
"""Vertices that a small filter does not remember: neighbours of 39 others each, or of one by 20 edges."""


def hub_graph(leaves: int) -> Graph:
    """Return a hub with edges to all others, and a vertex before it, to which every hundredth of them leads."""
    last = leaves + 1
    edges = [(last, 0), *((0, leaf) for leaf in range(1, leaves + 1)), *((leaf, last) for leaf in range(1, last, 100))]
    return graph_of(leaves + 2, edges)


_CHAIN = graph_of(30, [(v, v + 1) for v in range(29)])
_NEXT = {name: value for name, value in vars(PRESETS["fast"]).items() if value != getattr(PRESETS["hc2"], name)}

_FEWER = [
    ("hc2", _NEXT, "hc2", hub_graph(10_000), 10_001, (53_082, 3254)),
    ("hc2", _NEXT, "fixed:20", messy_graph(4096, 16_384, 6), 1, (4522, 3586)),
    ("hc2", _NEXT, "fixed:20", messy_graph(4096, 65_536, 6), 1, (4854, 3590)),
    ("hc2", _NEXT, "hc2", _CHAIN, 0, (15_812, 14_676)),
    *(
        pytest.param("test", *row, marks=pytest.mark.long)
        for row in (
            ({"edge_chunk": 4}, "hc2", hub_graph(300), 301, (5530, 3434)),
            ({"lean_visits": True}, "fixed:20", messy_graph(512, 2048, 6), 1, (3456, 3344)),
            ({"pair_reads": True}, "fixed:20", messy_graph(512, 8192, 6), 1, (8566, 8214)),
            ({"visited_filter": 64}, "fixed:75", messy_graph(64, 1500, 6), 0, (6634, 5354)),
            ({"remembered_ids": 32}, "fixed:75", repeated(20), 0, (21_080, 4392)),
            ({"short_ring": True}, "hc2", _CHAIN, 0, (11_252, 10_738)),
        )
    ),
]
"""Searches with the cycles that they take on a preset, and on one with some options besides."""


def pushes(machine: Machine, graph: Graph, run: BfsRun) -> tuple[int, int]:
    """Return how many entries a search pushed, and how many it had to: of every vertex but the source once."""
    entries = chunks_of(graph, machine.config.edge_chunk)[run.levels > 0].sum()
    return sum(level.pushed for level in run.level_records), int(entries)


def check(machine: Machine, graph: Graph, *sources: int, slack: int | None = 2000) -> None:
    """Search a graph, and find its components if the machine finds any."""
    for source in sources:
        check_bfs(machine, graph, source, slack=slack)
    if machine.config.finds_components:
        check_scc(machine, graph, slack=slack)


def check_awkward(config: str | AcceleratorConfig, memory: str, subtests: pytest.Subtests) -> None:
    """Run on all awkward graphs."""
    for name, graph in GRAPHS.items():
        with subtests.test(name), made(config, memory) as machine:
            check(machine, graph, SOURCES.get(name, 0))


def test_every_option_and_every_pair_is_there() -> None:
    sizes = {name for name in vars(PRESETS["test"]) if name.endswith("_depth")} | {"intersection_kernels", "clock_mhz"}
    assert set(VALUES) == {each.name for each in fields(AcceleratorConfig)} - sizes
    machines = list(COVERING.values())
    assert set().union(*map(pairs_of, machines)) == possible_pairs()
    covered = set().union(*map(pairs_of, machines[: len(KNOWN) + OFTEN]))
    assert len(covered) > 0.79 * len(possible_pairs())


@pytest.mark.parametrize("config", MACHINES)
def test_awkward_graphs(config: AcceleratorConfig, subtests: pytest.Subtests) -> None:
    check_awkward(config, "hc2", subtests)


@pytest.mark.parametrize("memory", [memory for memory in MEMORIES if memory != "hc2"])
@pytest.mark.parametrize("config", KNOWN.values(), ids=KNOWN)
def test_awkward_graphs_on_other_memories(config: AcceleratorConfig, memory: str, subtests: pytest.Subtests) -> None:
    check_awkward(config, memory, subtests)


@pytest.mark.long
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("config", _DEPTHS.values(), ids=_DEPTHS)
def test_depths(config: AcceleratorConfig, memory: str, subtests: pytest.Subtests) -> None:
    check_awkward(config, memory, subtests)


@pytest.mark.parametrize(("config", "memory"), _ON_MEMORIES)
def test_memories(config: AcceleratorConfig, memory: str) -> None:
    for graph in (hub_graph(300), messy_graph(100, 1501, 4), rmat_graph(256, 8, seed=2)):
        with made(config, memory) as machine:
            # A search forgets what the searches before it met.
            check(machine, graph, 1, 2)


@pytest.mark.parametrize(
    "memory", [pytest.param(name, marks=() if name in ("hc2", "fixed:1") else pytest.mark.long) for name in MEMORIES]
)
@pytest.mark.parametrize("config", _FULL)
def test_full_sizes(config: str, memory: str) -> None:
    # All these graphs take that many cycles together.
    with made(config, memory, cycle_limit=4 * CYCLE_LIMIT) as machine:
        for graph in (random_graph(3000, 8, seed=1), rmat_graph(2048, 8, seed=2), messy_graph(300, 3000, 3)):
            check_bfs(machine, graph, 1, slack=None)
        for name, graph in GRAPHS.items():
            try:
                check(machine, graph, *([] if machine.config.finds_components else [SOURCES.get(name, 0)]))
            except BaseException as error:
                error.add_note(f"graph: {name}")
                raise


@pytest.mark.parametrize("config", MACHINES)
def test_full_queues_restart_the_search(config: AcceleratorConfig) -> None:
    with made(config, "fixed:400") as machine:
        # Queues of chunks have more room, and their entries more copies.
        graph, source = (_CYCLE, 64) if config.edge_chunk else (_SHARED, 0)
        retries = check_bfs(machine, graph, source, slack=0).retries
    # A kernel on its own sees whom it has visited, but for copies one after another, which only the cycle has; a filter
    # drops these.
    assert (retries > 0) == (config.total_bfs_kernels > 1 or (graph is _CYCLE and not config.remembered_ids))


@pytest.mark.parametrize(("config", "memory"), _ON_MEMORIES)
def test_copies(config: AcceleratorConfig, memory: str) -> None:
    cycles = []
    # Each vertex has one predecessor: its chunks are expanded by several kernels or AEs, each of which has a filter.
    filters = config.engines if config.visited_filter else config.total_bfs_kernels
    for copies in (1, 20, 200) if config.filters_copies else (1, 20):
        graph = repeated(copies)
        with made(config, memory) as machine:
            run = check_bfs(machine, graph, 0)
            assert run.retries == 0
            if config.finds_components:
                check_scc(machine, graph)
        cycles.append(run.cycles)
        pushed, entries = pushes(machine, graph, run)
        if config.filters_copies:
            assert pushed <= entries * (filters if config.edge_chunk else 1)
        else:
            assert (pushed > entries) == (copies > 1)
    if config.filters_copies:
        # Of each further edge the id is read, eight at a time, and no more; random stalls may hold up some of it.
        longer = 2 if memory == "stress" else 1
        assert cycles[1] < longer * 2 * cycles[0]
        assert cycles[2] < longer * 20 * cycles[0]
    if config.visited_filter and config.engines == 1:
        graph = messy_graph(config.visited_filter, 1500, 6)
        with made(config, memory) as machine:
            pushed, entries = pushes(machine, graph, check_bfs(machine, graph, 0))
            assert pushed == entries


@pytest.mark.parametrize("config", MACHINES)
def test_repeated_searches_and_what_they_need(config: AcceleratorConfig) -> None:
    with made(config, "fixed:75") as machine:
        runs = [check_bfs(machine, _ODD, source) for source in (0, 3, 0)]
        room = 4 if config.pair_reads else 0
        assert machine.memory.allocations[1][1] == 4 * _ODD.edges + room
        assert runs[0].cycles == runs[2].cycles
        if config.finds_components:
            # A source whose edges are loops, however many entries they are, needs no search backward.
            run = check_scc(machine, GRAPHS["many self-loops of a source"])
            assert run.backward.searches < run.forward.searches


@pytest.mark.parametrize("config", MACHINES)
def test_executors_agree(config: AcceleratorConfig) -> None:
    graph, source = (TANGLE, None) if config.finds_components else (CROWD, 0)
    outcomes = []
    for executor in EXECUTORS:
        with made(config, GivenText(f"{_STALLS}:5"), executor=executor) as machine:
            outcomes.append(outcome(machine, graph, source=source))
    assert_equal(*outcomes)
    if not config.link_queues:
        assert outcomes[0].statistics["causes"]["bfs"]["refused"] > 0


@pytest.mark.parametrize("config", MACHINES)
def test_resumed_run(config: AcceleratorConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text("".join(f"{v} {(v * 5 + step) % 40}\n" for v in range(40) for step in (1, 2, 7)))
    command = ["scc", "g.txt"] if config.finds_components else ["bfs", "g.txt", "--source", "0"]
    run = [*command, *settings_of(config), "--memory", "hc2", "--quiet"]
    assert main([*run, "--json", "whole"]) == 0
    whole = json.loads(Path("whole").read_text())
    kept = ["--checkpoint", "kept", "--checkpoint-every", "400cycles"]
    assert main([*run, *kept, "--cycle-limit", str(whole["cycles"]["total"] // 2)]) == 3
    assert main([command[0], "--resume", "kept", "--cycle-limit", "1000000", "--json", "resumed", "--quiet"]) == 0
    resumed = json.loads(Path("resumed").read_text())
    for part in ("cycles", "statistics", "edges_traversed", "configuration"):
        assert resumed[part] == whole[part]


@pytest.mark.parametrize(("preset", "options", "memory", "graph", "source", "pinned"), _FEWER)
def test_takes_fewer_cycles(
    preset: str, options: dict[str, int], memory: str, graph: Graph, source: int, pinned: tuple[int, int]
) -> None:
    cycles = []
    for config in (PRESETS[preset], PRESETS[preset].replace(**options)):
        with made(config, memory) as machine:
            cycles.append(check_bfs(machine, graph, source, slack=None).cycles)
    assert tuple(cycles) == pinned


_FILTERS = PRESETS["fast-test"]
"""Kernels that exchange ids, and have causes for waits of their own."""


def causes(graph: Graph, config: str | AcceleratorConfig = _FILTERS) -> dict[str, int]:
    """Return the cycles of the BFS kernels by cause in a search from vertex 0."""
    with made(config, "fixed:1") as machine:
        check_bfs(machine, graph, 0)
        found: dict[str, int] = machine.statistics()["causes"]["bfs"]
    return found


def shared_star(stride: int) -> Graph:
    """Return a graph whose sources, the neighbours of vertex 0, share 100 neighbours that are so many ids apart."""
    sources = range(1, 1 + 4 * _FILTERS.total_bfs_kernels)
    targets = [64 + number * stride for number in range(100)]
    return graph_of(2048, [*((0, source) for source in sources), *((s, t) for s in sources for t in targets)])


def test_ids_of_one_owner_wait_for_each_other() -> None:
    shared, spread = (causes(shared_star(stride)) for stride in (2 * _FILTERS.bfs_kernels, 1))
    assert shared["exchange"] > 0.3 * sum(shared.values())
    assert spread["exchange"] < 0.5 * shared["exchange"]


@pytest.mark.long
def test_kernels_without_edges_wait_for_the_ids_of_one_with_all() -> None:
    whole_lists = PRESETS["test"].replace(visited_filter=64, bfs_kernels=4)
    few, many = (causes(graph_of(2048, [(0, 1)] * edges), whole_lists) for edges in (1, 1001))
    # While one kernel reads a thousand copies of an id, the others of its AE have nothing to do but what it sends them.
    assert many["ids"] - few["ids"] >= 3 * 1000
    assert many["exchange"] == few["exchange"]


@pytest.mark.parametrize("config", ["test", "hc2"])
def test_kernels_without_an_exchange_never_wait_for_one(config: str) -> None:
    found = causes(shared_star(1), config)
    assert (found["exchange"], found["ids"]) == (0, 0)
