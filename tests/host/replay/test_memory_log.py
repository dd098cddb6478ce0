"""Events of vertices against the memory's own log of all accesses: each access is told, and none else."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from cyscc.host.graph.generators import rmat_graph
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import queues_of, within
from cyscc.host.replay.vertices import VertexHistory, vertex_history
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.exchange.wires import ID_BITS, owner_bits
from cyscc.sim.hardware import DEGREE, READS, START
from cyscc.sim.memory import ArrayKind, WatchedRange
from tests.host.replay.conftest import Recorded, replayed
from tests.system.covering import MACHINES, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyscc.host.graph.memory_map import PlacedGraph
    from cyscc.sim.machine import Machine

READ_BY = {
    "id_read": "neighbour_reader",
    "id_dropped": "neighbour_reader",
    "expanded": "neighbour_reader",
    "word_read": "word_reader",
    "entry_read": "frontier_reader",
    "reach_read": "reach_reader",
    "colour_read": "colour_reader",
    "other_word_read": "colour_reader",
    "own_word_read": "classifier",
}
"""The process of each event that is a read."""


class MemoryLog:
    """Collects all accesses of a run as its memory logs them."""

    waiting = done = False

    def begin(self, machine: "Machine", graphs: "Sequence[PlacedGraph]") -> None:
        self.machine, self.graphs = machine, graphs
        self._log = machine.memory.log_accesses(span=1024)
        self._log.choose([WatchedRange(start=0, end=1 << 62)])
        self._parts = [self._log.take()]

    def look(self, cycle: int) -> int:
        self._parts.append(self._log.take())
        return 1024

    def frame(self, record: Record) -> pd.DataFrame:
        """Return the accesses of the last attempt."""
        rows = pd.DataFrame(np.concatenate(self._parts))
        rows = rows.join(record.instructions_at(rows["cycle"])[["instruction", "attempt", "phase", "module"]])
        return rows[rows["attempt"] == record.attempt]


class Expected:
    """What the memory's log says of vertices."""

    def __init__(self, record: Record) -> None:
        self.log = log = MemoryLog()
        self.replay = replayed(record)
        self.replay.watch([log], aim="")
        self.rows = rows = log.frame(record)
        self.config = log.machine.config
        self.switched = self.config.link_queues > 0
        queues = queues_of(log.machine)
        address = rows["address"].to_numpy()
        reach, frontier = within(address, queues.reaches), within(address, queues.frontiers)
        self.entries, self.reached = rows[frontier], _halves(rows[reach])
        # The part of a reach queue that a level writes begins with the lowest of its addresses.
        written = self.reached[self.reached["write"]]
        begins = written.groupby("instruction")["address"].min()
        self.reached = self.reached.assign(
            slot=(self.reached["address"] - self.reached["instruction"].map(begins)) // 4
        )
        starts = np.array([start for start, _ in queues.frontiers])
        at = self.entries["address"].to_numpy()
        slots = (at - starts[np.searchsorted(starts, at, side="right") - 1]) // 8
        self.entries = self.entries.assign(slot=slots)

    def words(self, number: int) -> pd.DataFrame:
        """Return the accesses to a vertex's graph words and colour."""
        memory, address = self.log.machine.memory, self.rows["address"].to_numpy()
        places = [(each.words_address + 8 * number, 8) for each in self.log.graphs]
        for (start, _), kind in zip(memory.allocations, memory.holds, strict=True):
            if kind is ArrayKind.COLOURS:
                places.append((start + 4 * number, 4))
        return self.rows[within(address, places)]

    def ids(self, number: int) -> pd.DataFrame:
        """Return the reads of a vertex's id in lists, and its id's accesses in the reach queues."""
        found = []
        for each in self.log.graphs:
            here = within(self.rows["address"].to_numpy(), [(each.neighbours_address, 4 * each.graph.edges)])
            halves = _halves(self.rows[here])
            place = (halves["address"] - each.neighbours_address) // 4
            inside = halves[place < each.graph.edges]
            found.append(inside[inside["data"] == number])
        return pd.concat([*found, self.reached[self.reached["data"] == number]])

    def queued(self, number: int, record: Record) -> pd.DataFrame:
        """Return the accesses to a vertex's entries of the frontier queues."""
        entries, every = self.entries, record.attempts
        level = entries["instruction"].map(every["level"])
        if self.reached.empty:
            offsets = np.array([each.graph.offsets[number : number + 2] for each in self.log.graphs])
            first, end = offsets[(entries["phase"] == "backward").astype(int)].T
            start = START.get(entries["data"].to_numpy())
            return entries[(start >= first) & (start < end) & (DEGREE.get(entries["data"].to_numpy()) > 0)]
        own = self.reached[self.reached["write"] & (self.reached["data"] == number)]
        keys = set(zip(own["instruction"], own["slot"], strict=True))
        of_source = entries["instruction"].map(every["source"]) == number
        chosen = [
            (instruction - (not write), slot) in keys if write or level_ else from_source
            for instruction, slot, write, level_, from_source in zip(
                *(entries[name] for name in ("instruction", "slot", "write")), level, of_source, strict=True
            )
        ]
        return entries[chosen]

    def listed(self, number: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the reads of a vertex's lists, and those that also read what is not in the list."""
        found, partly = [], []
        for each in self.log.graphs:
            first, end = (each.neighbours_address + 4 * each.graph.offsets[number : number + 2]).tolist()
            rows = self.rows
            touching = rows[(rows["address"] < end) & (rows["address"] + rows["size"] > first)]
            found.append(touching)
            partly.append(touching[(touching["address"] < first) | (touching["address"] + touching["size"] > end)])
        return pd.concat(found), pd.concat(partly)

    def owner(self, number: int) -> int:
        """Return the kernel of an AE that visits a vertex where kernels exchange ids."""
        from amaranth.hdl import Signal

        bits = owner_bits(Signal(ID_BITS), self.config.bfs_kernels)
        return number >> bits.start & (1 << len(bits)) - 1


def _halves(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accesses to ids with those to two ids as two."""
    low = rows.assign(data=rows["data"] & np.uint64((1 << 32) - 1))
    wide = rows[rows["size"] == 8]
    return pd.concat([low, wide.assign(data=wide["data"] >> np.uint64(32), address=wide["address"] + 4)])


def _check(expected: Expected, record: Record, history: VertexHistory) -> None:
    """Compare the events of a vertex with the memory's log."""
    number = expected.log.graphs[0].graph.index(history.vertex)
    events = history.events
    events = events.assign(
        write=~events["event"].isin(READ_BY),
        instruction=record.instructions_at(events["cycle"])["instruction"].to_numpy(),
    )
    told = events[events["event"] != "expanded"]
    parts = [expected.words(number), expected.ids(number), expected.queued(number, record)]
    rows = pd.concat(parts, ignore_index=True)
    names = ["instruction", "engine", "write", "address"]
    if not expected.switched:
        rows = rows.assign(kernel=rows["port"])
        names += ["kernel", "cycle", "answered"]
        _same(told, rows, names)
        processes = [READS[module][tag][0] for module, tag in rows.loc[~rows["write"], ["module", "tag"]].to_numpy()]
        assert Counter(told.loc[~told["write"], "event"].map(READ_BY)) == Counter(processes)
    else:
        _same(told, rows, names)
        _same(told[~told["write"]], rows[~rows["write"]].assign(kernel=rows["tag"]), [*names, "kernel"])
        if expected.config.exchange_kernels:
            own = told[told["event"].isin(["word_read", "pushed", "visited", "reached"])]
            assert set(own["kernel"]) <= {expected.owner(number)}
        for written, read in (("coloured", "colour_read"), ("unvisited", "own_word_read")):
            keys = ["instruction", "engine", "kernel"]
            before = set(told[told["event"] == read][keys].itertuples(index=False))
            assert set(told[told["event"] == written][keys].itertuples(index=False)) <= before
    ids = told[told["event"] == "id_read"]
    for direction, each in enumerate(expected.log.graphs):
        own = ids[(ids["phase"] == "backward") == bool(direction)]
        places = (own["address"].to_numpy() - each.neighbours_address) // 4
        sources = np.searchsorted(each.graph.offsets, places, side="right") - 1
        assert own["of"].tolist() == each.graph.original(sources).tolist()
    later = told[told["event"].isin(["word_read", "pushed", "visited", "reached"])]
    assert set(later["of"].dropna()) <= set(ids["of"])
    touching, partly = expected.listed(number)
    expansions = events[events["event"] == "expanded"]
    assert len(expansions) == ((told["event"] == "entry_read") & _has_list(told, history)).sum()
    keys = ["instruction", "engine", "kernel"]
    reads = expansions.groupby(keys)["accesses"].sum()
    kernel = "tag" if expected.switched else "port"
    most = touching.groupby(["instruction", "engine", kernel]).size()
    least = most - partly.groupby(["instruction", "engine", kernel]).size().reindex(most.index, fill_value=0)
    if not expected.config.pair_reads:
        assert partly.empty
    assert set(reads.index) <= set(most.index)
    reads = reads.reindex(most.index, fill_value=0)
    assert ((least <= reads) & (reads <= most)).all()


def _has_list(told: pd.DataFrame, history: VertexHistory) -> "pd.Series":
    """Return for which entries there are neighbours to read."""
    out_of_it = np.where(told["phase"] == "backward", history.in_degree, history.out_degree)
    return pd.Series(out_of_it > 0, told.index)


def _same(told: pd.DataFrame, rows: pd.DataFrame, names: list[str]) -> None:
    """Compare some columns of events and of logged accesses, in any order."""
    counted = [Counter(map(tuple, each[names].astype(np.int64).to_numpy().tolist())) for each in (told, rows)]
    assert counted[0] == counted[1], (counted[0] - counted[1], counted[1] - counted[0])


HUBS = "".join(f"{v} {(v * step + 1) % 21}\n" for v in range(21) for step in (1, 2, 4)) + "".join(
    f"{hub} {v}\n{v} {hub}\n" for hub in (3, 8) for v in range(21) if v != hub
)
NAMED = "".join(" ".join(str(100 + int(name)) for name in line.split()) + "\n" for line in HUBS.splitlines())
"""The graph with vertices from 100 on."""


@pytest.mark.parametrize("config", MACHINES)
def test_each_access_to_a_vertex_is_told(config: AcceleratorConfig, recorded: Recorded) -> None:
    command = ("scc",) if config.finds_components else ("bfs", "--source", "103")
    record = recorded(*settings_of(config), graph=NAMED, command=command)
    expected = Expected(record)
    for vertex in (100, 103, 108, 111, 120):
        _check(expected, record, vertex_history(expected.replay, vertex))


@pytest.mark.long
@pytest.mark.parametrize("options", ["hc2", "fast", "published", "hc2 remembered_ids=128"])
def test_each_access_to_twenty_vertices_of_a_full_machine(options: str, recorded: Recorded) -> None:
    name, *settings = options.split()
    graph = rmat_graph(1 << 13, 8, seed=3)
    sources = np.repeat(np.arange(graph.vertices), graph.out_degrees())
    edges = "".join(
        f"{source} {target}\n" for source, target in zip(sources.tolist(), graph.targets.tolist(), strict=True)
    )
    chosen = [word for setting in settings for word in ("--set", setting)]
    record = recorded("--config", name, *chosen, graph=edges)
    expected = Expected(record)
    own = expected.replay.graph
    hubs = np.argsort(np.bincount(graph.targets) + graph.out_degrees())[-5:]
    others = np.random.default_rng(1).choice(own.original(np.arange(own.vertices)), 15, replace=False)
    for vertex in {*hubs.tolist(), *others.tolist()}:
        _check(expected, record, vertex_history(expected.replay, vertex))
