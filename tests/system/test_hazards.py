"""Hazards of the published machine, as runs: ours is free of them, and hardware that has one fails the same run.

It is proven (`tests.formal`) that no level ends early (hazards 2 and 3), that the ring passes every token of its run
and no other (4 and 5), that every response has its place (6 and 7), and that neither channel of requests blocks the
other (8). Here is what no proof says by itself, and two of the others. Each test first makes a run on the machine as it
is, then the same run on a variant of the hardware (`tests.system.variants`) that has the hazard. Where a hazard needs a
cause from outside, such as a slow ring, a run without that cause shows that the variant is right otherwise.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from cyscc.host.graph.csr import Graph
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.errors import CycleLimitError
from cyscc.sim.machine import Machine
from cyscc.sim.memory import READ, WRITE
from tests.system.graphs import graph_of
from tests.system.runs import check_bfs, made, search
from tests.system.variants import (
    EmptyFifoAllocator,
    EmptyFifoVisitor,
    SharedChannelMux,
    SplitNeighbourReader,
    install,
)

ONE = PRESETS["test"].replace(engines=1, bfs_kernels=1, neighbour_depth=4, word_depth=4)
"""A single kernel, whose behaviour depends on the memory alone."""

CHAIN = graph_of(6, [(v, v + 1) for v in range(5)])
"""One vertex a level, so that each level ends with the visit of its only vertex."""

STAR = graph_of(9, [(0, v) for v in range(1, 9)])
"""Eight visits in a level of 1 + 8 + 8 reads: more words than one FIFO of `ONE` holds, fewer than two hold."""

LIMIT = 40_000
"""More cycles than any run here needs if it does not hang."""

Taken = dict[int, int]
"""Requests that the memory has taken, by kind."""

Rule = Callable[[Taken], tuple[bool, bool]]
"""When the memory accepts requests: from those accepted so far, whether it accepts a read and a write."""


def impose(monkeypatch: pytest.MonkeyPatch, machine: Machine, rule: Rule) -> Taken:
    """Let the memory of a machine with one port take requests only as a rule allows; return its account of them."""
    box = machine.memory.mailboxes[0]
    prepare, accept = machine.memory.prepare, machine.memory.accept
    taken = {READ: 0, WRITE: 0}

    def prepare_by_rule(ae: int, cycle: int) -> None:
        prepare(ae, cycle)
        reads, writes = rule(taken)
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
def ruled(config: AcceleratorConfig, rule: Rule | None, limit: int) -> Iterator[tuple[Machine, Taken]]:
    """Return a machine whose memory follows a rule, and the log of the requests accepted under it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        with made(config, "fixed:20", executor="amaranth", cycle_limit=limit) as machine:
            yield machine, {} if rule is None else impose(monkeypatch, machine, rule)


def passes(config: AcceleratorConfig, graph: Graph, *, rule: Rule | None = None) -> None:
    """Search from vertex 0; check levels, counts and memory, and that there were three writes a visit and no other."""
    with ruled(config, rule, LIMIT) as (machine, _):
        run = check_bfs(machine, graph, 0)
        assert run.retries == 0
        assert machine.statistics()["memory"]["writes"]["total"] == 3 * (run.reached + run.duplicates - 1)


def hangs(config: AcceleratorConfig, graph: Graph, *, rule: Rule | None = None) -> tuple[str, Taken]:
    """Search from vertex 0, which hangs; return the diagnosis and the requests accepted under the rule."""
    with ruled(config, rule, 1000) as (machine, taken):
        with pytest.raises(CycleLimitError, match=r"^cycle limit of 1,000 reached$") as failure:
            search(machine, graph, 0)
    return failure.value.diagnosis, taken


def test_1_neighbours_without_out_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = graph_of(8, [(0, 1), (0, 2), (0, 3), (1, 4), (3, 5), (4, 6), (5, 0), (6, 0)])
    none = graph_of(8, [*((v, (v + 1) % 8) for v in range(8)), (0, 3)])
    assert (leaves.out_degrees()[2], none.out_degrees().min()) == (0, 1)
    passes(ONE, leaves)
    install(monkeypatch, {"bfs.kernel.NeighbourReader": SplitNeighbourReader})
    passes(ONE, none)
    diagnosis, _ = hangs(ONE, leaves)
    assert "frontier_idle=1 neighbours_idle=0 words_idle=1 visitor_idle=1 slots_idle=1 requests_idle=1" in diagnosis


def test_2_done_while_a_vertex_waits_for_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    slow_ring = ONE.replace(ring_stages=64)
    passes(slow_ring, CHAIN)
    install(monkeypatch, {"bfs.kernel.Visitor": EmptyFifoVisitor, "bfs.kernel.SlotAllocator": EmptyFifoAllocator})
    passes(ONE, CHAIN)
    with ruled(slow_ring, None, LIMIT) as (machine, _):
        assert search(machine, CHAIN, 0).levels.tolist() == [0, -1, -1, -1, -1, -1]
        assert machine.statistics()["memory"]["writes"]["total"] == 0


def writes_first(taken: Taken) -> tuple[bool, bool]:
    """Accept reads up to the twelfth, and further ones behind three writes."""
    return taken[READ] < 12 or taken[WRITE] >= 3, True


def reads_first(taken: Taken) -> tuple[bool, bool]:
    """Accept writes behind the seventeenth read."""
    return True, taken[READ] >= 17


@pytest.mark.parametrize(
    ("rule", "reads", "stalled"),
    [
        (writes_first, range(12, 13), "read_stalled=1 write_stalled=0"),
        (reads_first, range(17), "read_stalled=0 write_stalled=1"),
    ],
)
def test_8_one_channel_goes_on_while_the_other_stalls(
    rule: Rule, reads: range, stalled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes(ONE, STAR, rule=rule)
    install(monkeypatch, {"kernel.RequestMux": SharedChannelMux})
    passes(ONE, STAR)
    diagnosis, taken = hangs(ONE, STAR, rule=rule)
    assert taken[READ] in reads
    assert taken[WRITE] == 0
    assert f"requests_idle=0 error=0 {stalled} slot_awaited=0" in diagnosis
