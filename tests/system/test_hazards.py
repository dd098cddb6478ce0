"""The eight hazards of the published machine: ours is free of each, and hardware that has it fails the same run.

Every test first makes a run on the machine as it is, checked in every way, then the same run on a variant of the
hardware (`tests.system.variants`) that has the hazard. Where a hazard needs a cause from outside, such as a latency, a
run without that cause shows that the variant is right otherwise.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.bfs import kernel
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.errors import CycleLimitError
from cyscc.sim.machine import Machine
from cyscc.sim.memory import READ, WRITE
from tests.system.graphs import graph_of, messy_graph
from tests.system.runs import check_bfs, made, search
from tests.system.variants import (
    WATCHED,
    EmptyFifoAllocator,
    EmptyFifoVisitor,
    EpochBlindAllocator,
    FlushedEarlyKernel,
    ForgetfulMux,
    GenerousCredits,
    InOrderDecoder,
    InOrderKernel,
    LeakyRingMaster,
    RepeatingKernel,
    RepeatingMux,
    RoomTellingNeighbourReader,
    SharedChannelMux,
    SleepyRingMaster,
    SleepyShell,
    SplitNeighbourReader,
    UnreservedCredits,
    install,
    on_credits,
)

ONE = PRESETS["test"].replace(engines=1, bfs_kernels=1, neighbour_depth=4, word_depth=4)
"""A single kernel, whose behaviour depends on the memory alone."""

TWO = ONE.replace(engines=2)
"""Two AEs with a kernel each; entry n of a queue belongs to AE n % 2."""

CHAIN = graph_of(6, [(v, v + 1) for v in range(5)])
"""One vertex a level, so that each level ends with the visit of its only vertex."""

STAR = graph_of(9, [(0, v) for v in range(1, 9)])
"""Eight visits in a level of 1 + 8 + 8 reads: more words than one FIFO of `ONE` holds, fewer than two hold."""

LIMIT = 40_000
"""More cycles than any run here needs if it does not hang."""

Taken = dict[int, int]
"""Requests that the memory has taken, by kind."""

Rule = Callable[[int, Taken], tuple[bool, bool]]
"""When the memory accepts requests: from the cycle and the accepted ones, whether it accepts a read and a write."""


def impose(monkeypatch: pytest.MonkeyPatch, machine: Machine, rule: Rule) -> Taken:
    """Let the memory of a machine with one port take requests only as a rule allows; return its account of them."""
    box = machine.memory.mailboxes[0]
    prepare, accept = machine.memory.prepare, machine.memory.accept
    taken = {READ: 0, WRITE: 0}

    def prepare_by_rule(ae: int, cycle: int) -> None:
        prepare(ae, cycle)
        reads, writes = rule(cycle, taken)
        box["read_ready"] *= reads
        box["write_ready"] *= writes

    def accept_and_count(ae: int, cycle: int) -> None:
        for kind in taken:
            taken[kind] += int(box["requests"][kind])
        accept(ae, cycle)

    monkeypatch.setattr(machine.memory, "prepare", prepare_by_rule)
    monkeypatch.setattr(machine.memory, "accept", accept_and_count)
    return taken


@contextmanager
def ruled(
    config: AcceleratorConfig, memory: str, rule: Rule | None, *, limit: int = LIMIT
) -> Iterator[tuple[Machine, Taken]]:
    """Return a machine whose memory follows a rule, and the log of the requests accepted under it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        with made(config, memory, executor="amaranth", cycle_limit=limit) as machine:
            yield machine, {} if rule is None else impose(monkeypatch, machine, rule)


def passes(config: AcceleratorConfig, memory: str, graph: Graph, *, rule: Rule | None = None) -> None:
    """Search from vertex 0; check levels, counts and memory, and that there were three writes a visit and no other."""
    with ruled(config, memory, rule) as (machine, _):
        run = check_bfs(machine, graph, 0)
        assert run.retries == 0
        assert machine.statistics()["memory"]["writes"]["total"] == 3 * (run.reached + run.duplicates - 1)


def goes_wrong(
    config: AcceleratorConfig, memory: str, graph: Graph, *, rule: Rule | None = None
) -> tuple[list[int], int]:
    """Search from vertex 0, which ends without an error; return the levels and how many writes there were."""
    with ruled(config, memory, rule) as (machine, _):
        run = search(machine, graph, 0)
        return run.levels.tolist(), machine.statistics()["memory"]["writes"]["total"]


def hangs(
    config: AcceleratorConfig, memory: str, graph: Graph, *, limit: int, rule: Rule | None = None
) -> tuple[str, Taken]:
    """Search from vertex 0, which hangs; return the diagnosis and the requests accepted under the rule."""
    with ruled(config, memory, rule, limit=limit) as (machine, taken):
        with pytest.raises(CycleLimitError, match=f"^cycle limit of {limit:,} reached$") as failure:
            search(machine, graph, 0)
    return failure.value.diagnosis, taken


def test_1_neighbours_without_out_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = graph_of(8, [(0, 1), (0, 2), (0, 3), (1, 4), (3, 5), (4, 6), (5, 0), (6, 0)])
    none = graph_of(8, [*((v, (v + 1) % 8) for v in range(8)), (0, 3)])
    assert (leaves.out_degrees()[2], none.out_degrees().min()) == (0, 1)
    passes(ONE, "fixed:20", leaves)
    install(monkeypatch, {"bfs.kernel.NeighbourReader": SplitNeighbourReader})
    passes(ONE, "fixed:20", none)
    diagnosis, _ = hangs(ONE, "fixed:20", leaves, limit=1000)
    assert "frontier_idle=1 neighbours_idle=0 words_idle=1 visitor_idle=1 slots_idle=1 requests_idle=1" in diagnosis


def test_2_done_while_a_vertex_waits_for_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_ring = ONE.replace(ring_stages=64)
    passes(slow_ring, "fixed:20", CHAIN)
    install(monkeypatch, {"bfs.kernel.Visitor": EmptyFifoVisitor, "bfs.kernel.SlotAllocator": EmptyFifoAllocator})
    passes(ONE, "fixed:20", CHAIN)
    assert goes_wrong(slow_ring, "fixed:20", CHAIN) == ([0, -1, -1, -1, -1, -1], 0)


def test_3_the_last_write_of_a_level_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def seldom(cycle: int, taken: Taken) -> tuple[bool, bool]:
        return True, cycle % 32 == 0

    passes(ONE, "fixed:20", CHAIN, rule=seldom)
    install(monkeypatch, {"application_engine.BfsKernel": FlushedEarlyKernel, "kernel.RequestMux": ForgetfulMux})
    passes(ONE, "fixed:20", CHAIN)
    # Of each visit only the first write comes out: the frontier goes on, and nobody sees that the rest is missing.
    assert goes_wrong(ONE, "fixed:20", CHAIN, rule=seldom) == ([0, -1, -1, -1, -1, -1], 5)


def test_3_a_write_repeats_through_the_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    passes(ONE, "fixed:20", CHAIN)
    install(monkeypatch, {"application_engine.BfsKernel": RepeatingKernel, "kernel.RequestMux": RepeatingMux})
    levels, writes = goes_wrong(ONE, "fixed:20", CHAIN)
    assert levels == [0, 1, 2, 3, 4, 5]
    assert writes > 2 * 15


def test_4_the_token_passes_engines_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    passes(TWO, "fixed:20", CHAIN)
    install(monkeypatch, {"shell.RingMaster": SleepyRingMaster, "application_engine.Shell": SleepyShell})
    passes(ONE, "fixed:20", CHAIN)
    diagnosis, _ = hangs(TWO, "fixed:20", CHAIN, limit=1000)
    assert "engine 1: idle" in diagnosis
    assert "engine 0 bfs kernel 0" in diagnosis
    assert "slot_awaited=1 visits=1" in diagnosis
    assert "engine 1 bfs kernel 0" not in diagnosis


def test_5_no_token_outlives_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_link = TWO.replace(link_cycles=60)
    passes(slow_link, "fixed:20", CHAIN)
    install(monkeypatch, {"shell.RingMaster": LeakyRingMaster, "bfs.kernel.SlotAllocator": EpochBlindAllocator})
    passes(TWO, "fixed:20", CHAIN)
    levels, _ = goes_wrong(slow_link, "fixed:20", CHAIN)
    assert levels == [0, 1, -1, -1, -1, -1]


def test_6_responses_in_order_against_the_depth_of_a_fifo(monkeypatch: pytest.MonkeyPatch) -> None:
    config = ONE.replace(frontier_depth=64, neighbour_depth=16, word_depth=16)
    star = graph_of(80, [(0, v) for v in range(1, 80)])
    passes(config, "fixed:2", star)
    passes(config, "fixed:100", star)
    passes(ONE, "fixed:400", graph_of(10, [(0, v) for v in range(1, 10)]))
    install(
        monkeypatch,
        {
            "application_engine.BfsKernel": InOrderKernel,
            "kernel.ResponseDecoder": InOrderDecoder,
            "bfs.kernel.NeighbourReader": on_credits(RoomTellingNeighbourReader, UnreservedCredits),
        },
    )
    passes(config, "fixed:2", star)
    diagnosis, _ = hangs(config, "fixed:100", star, limit=2000)
    # Every response has come, the words among them, and waits behind one that the full FIFO refuses.
    assert "neighbours_idle=0 words_idle=0 visitor_idle=1 slots_idle=1 requests_idle=1" in diagnosis
    assert "words=0" in diagnosis
    assert "outstanding" not in diagnosis


@pytest.mark.parametrize(
    ("reader", "full", "stuck"),
    [
        ("Frontier", "frontier", "frontier_idle=0 neighbours_idle=1 words_idle=1"),
        ("Neighbour", "neighbour", "frontier_idle=1 neighbours_idle=0 words_idle=1"),
        ("Word", "id", "frontier_idle=1 neighbours_idle=1 words_idle=0"),
    ],
    ids=["frontier", "neighbour", "word"],
)
def test_7_no_fifo_overflows(reader: str, full: str, stuck: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = ONE.replace(neighbour_depth=16)
    graph = messy_graph(20, 160, 5)
    place = f"bfs.kernel.{reader}Reader"
    with monkeypatch.context() as watched:
        install(watched, WATCHED)
        passes(config, "fixed:20", graph)
        install(watched, {place: on_credits(WATCHED[place], GenerousCredits)})
        with pytest.raises(AssertionError, match=f"^Assertion violated: overflow of the {full} FIFO$"):
            goes_wrong(config, "fixed:20", graph)
    # Without the watch, what the full FIFO did not take is missed for ever.
    install(monkeypatch, {place: on_credits(getattr(kernel, f"{reader}Reader"), GenerousCredits)})
    diagnosis, _ = hangs(config, "fixed:20", graph, limit=2500)
    assert f"{stuck} visitor_idle=1 slots_idle=1 requests_idle=1" in diagnosis
    assert "outstanding" not in diagnosis


def test_8_writes_go_on_while_reads_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    def writes_first(cycle: int, taken: Taken) -> tuple[bool, bool]:
        return taken[READ] < 12 or taken[WRITE] >= 3, True

    passes(ONE, "fixed:20", STAR, rule=writes_first)
    install(monkeypatch, {"kernel.RequestMux": SharedChannelMux})
    passes(ONE, "fixed:20", STAR)
    diagnosis, taken = hangs(ONE, "fixed:20", STAR, limit=1000, rule=writes_first)
    assert taken == {READ: 12, WRITE: 0}
    assert "requests_idle=0 error=0 read_stalled=1 write_stalled=0 slot_awaited=0" in diagnosis


def test_8_reads_go_on_while_writes_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    def reads_first(cycle: int, taken: Taken) -> tuple[bool, bool]:
        return True, taken[READ] >= 17

    passes(ONE, "fixed:20", STAR, rule=reads_first)
    install(monkeypatch, {"kernel.RequestMux": SharedChannelMux})
    passes(ONE, "fixed:20", STAR)
    diagnosis, taken = hangs(ONE, "fixed:20", STAR, limit=1000, rule=reads_first)
    assert taken[READ] < 17
    assert taken[WRITE] == 0
    assert "requests_idle=0 error=0 read_stalled=0 write_stalled=1 slot_awaited=0" in diagnosis
