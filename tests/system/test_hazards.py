"""Hazards of the published hardware: shown on variants that have them, absent from ours."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal
from amaranth.lib.wiring import In, connect, flipped

from cyscc.host.graph.csr import Graph
from cyscc.hw.bfs.neighbour_reader import NeighbourReader
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.visitor import Visitor
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.hw.queue import Queue
from cyscc.hw.request_mux import RequestMux
from cyscc.sim.errors import CycleLimitError
from cyscc.sim.executors.amaranth import elaborated
from cyscc.sim.machine import Machine
from cyscc.sim.memory import READ, WRITE
from tests.system.graphs import graph_of
from tests.system.runs import check_bfs, made, search


def install(monkeypatch: pytest.MonkeyPatch, variants: dict[str, type]) -> None:
    """Put variants into the places of components until the test ends.

    Parameters
    ----------
    monkeypatch : pytest.MonkeyPatch
        Of the test.
    variants : dict
        By place: a module below `cyscc.hw` and the name in it, such as ``"bfs.kernel.Visitor"``.
    """
    for place, variant in variants.items():
        monkeypatch.setattr(f"cyscc.hw.{place}", variant)
    # A machine elaborated before has the components themselves, and this one is for nobody else.
    monkeypatch.setattr("cyscc.sim.executors.amaranth.elaborated", elaborated.__wrapped__)


def _around(outer: Any, inner: Any, *, but: Sequence[str]) -> Module:
    """Return a module with `inner` in it, whose members are those of `outer`, except those named."""
    m = Module()
    m.submodules.inner = inner
    for name, member in outer.signature.members.items():
        if name in but:
            continue
        ours, its = getattr(outer, name), getattr(inner, name)
        if member.is_signature:
            connect(m, its, flipped(ours))
        else:
            m.d.comb += its.eq(ours) if member.flow is In else ours.eq(its)
    return m


class SplitNeighbourReader(NeighbourReader):
    """Hazard 1: starts and counts wait in two queues, and a vertex without out-edges enters only one of them."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Put the two queues before the process."""
        inner = NeighbourReader(depth=self._depth, instrument=self._instrument)
        m = _around(self, inner, but=("words", "idle"))
        m.submodules.starts = starts = Queue(32, self._depth)
        m.submodules.counts = counts = Queue(31, self._depth)
        room = starts.input.ready & counts.input.ready
        start, count = self.words.payload[32:], self.words.payload[1:32]
        both = starts.output.valid & counts.output.valid
        m.d.comb += [
            self.words.ready.eq(room),
            starts.input.valid.eq(self.words.valid & room),
            starts.input.payload.eq(start),
            counts.input.valid.eq(self.words.valid & room & count.any()),
            counts.input.payload.eq(count),
            inner.words.valid.eq(both),
            inner.words.payload.eq(Cat(Const(0, 1), counts.output.payload, starts.output.payload)),
            starts.output.ready.eq(both & inner.words.ready),
            counts.output.ready.eq(both & inner.words.ready),
            self.idle.eq(inner.idle & ~starts.level.any() & ~counts.level.any()),
        ]
        return m


class EmptyFifoVisitor(Visitor):
    """Hazard 2: idle when nothing stands behind the vertex at the head, which is popped and waits for its slot."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Change what idle means."""
        inner = Visitor(depth=self._depth)
        m = _around(self, inner, but=("idle",))
        m.d.comb += self.idle.eq(self.level <= 1)
        return m


class EmptyFifoAllocator(SlotAllocator):
    """Hazard 2: has no part in whether a kernel is done, and lets the token pass once it is."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Add a way round the station."""
        inner = SlotAllocator(depth=self._depth, blocking=self._blocking)
        m = _around(self, inner, but=("idle", "token_in", "token_out"))
        passing = Signal()
        token = Signal.like(self.token_in.payload)
        m.d.sync += [passing.eq(self.token_in.valid & self.done), token.eq(self.token_in.payload)]
        m.d.comb += [
            self.idle.eq(1),
            inner.token_in.valid.eq(self.token_in.valid & ~self.done),
            inner.token_in.payload.eq(self.token_in.payload),
            self.token_out.valid.eq(inner.token_out.valid | passing),
            self.token_out.payload.eq(inner.token_out.payload),
        ]
        with m.If(passing):
            m.d.comb += self.token_out.payload.eq(token)
        return m


class SharedChannelMux(RequestMux):
    """Hazard 8: reads and writes leave through one register, so that one that the port does not take stops both."""

    def elaborate(self, platform: object) -> Elaboratable:
        """Put the register behind the multiplexer."""
        inner = RequestMux(sources=self._kinds, issue_interval=self._issue_interval)
        m = _around(self, inner, but=("read", "write", "busy"))
        full = Signal()
        writes = Signal()
        free = ~full | Mux(writes, self.write.ready, self.read.ready)
        m.d.comb += [
            self.write.valid.eq(full & writes),
            self.read.valid.eq(full & ~writes),
            inner.write.ready.eq(free),
            inner.read.ready.eq(free & ~inner.write.valid),
            self.busy.eq(inner.busy | full),
        ]
        with m.If(free):
            m.d.sync += [
                full.eq(inner.read.valid | inner.write.valid),
                writes.eq(inner.write.valid),
                self.write.payload.eq(inner.write.payload),
                self.read.payload.eq(inner.read.payload),
            ]
        return m


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
