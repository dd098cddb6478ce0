"""Proofs about the switch's flush barrier, and the registers between its streams."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Value

from cyscc.hw.switch.flush_barrier import FlushBarrier
from cyscc.hw.switch.skid import Skid
from tests.formal.faults import breaking, driven, falls, spoiled, sticks
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.watch import outlast

KERNELS = 3
LINKS = 2


def flushes() -> Harness:
    """Return the harness of `FlushBarrier`: kernels that ask once a run, and ports that answer after any delay.

    A kernel writes nothing after it asked, so once all have asked, the switch only becomes empty.
    """
    h = Harness()
    part = h.add("dut", FlushBarrier(kernels=KERNELS, links=LINKS))
    dut: Any = part.ports
    asks, answers = h.free(KERNELS, "asks"), h.free(LINKS, "answers")
    working, busy = h.free(KERNELS, "working"), h.free(1, "busy")
    h.m.d.comb += [dut.asks.eq(asks), dut.answers.eq(answers), dut.working.eq(working), dut.busy.eq(busy)]
    waiting = h.register(KERNELS, "waiting")  # the kernels that asked and have no answer
    h.m.d.sync += waiting.eq((waiting | asks) & ~dut.flushed)
    flushing = h.register(LINKS, "flushing")  # the ports that have not answered
    h.m.d.sync += flushing.eq(Mux(dut.flush, -1, flushing) & ~answers)
    away = h.register(1, "away")  # from the flush of the ports to the answer for the kernels
    h.m.d.sync += away.eq((away | dut.flush) & ~dut.flushed.any())
    h.assume((asks & (waiting | ~working)) == 0, "asks_while_at_work_and_once")
    h.assume(~(answers & ~Mux(dut.flush, Value.cast(-1)[:LINKS], flushing)).any(), "ports_answer_a_flush")
    h.assume(h.steady(working, "working") | (waiting == 0), "the_kernels_at_work_change_between_runs")
    h.assume(working.any(), "a_kernel_is_at_work")
    whole = waiting.any() & (waiting == working)
    h.assume(~(h.past(whole, "whole") & whole & ~h.past(busy, "was_busy")) | ~busy, "then_the_switch_becomes_empty")

    flushed = dut.flushed.any()
    h.prove(~dut.flush | whole, "flushes_when_all_at_work_have_asked")
    h.prove(~dut.flush | ~h.past(busy, "busy"), "flushes_when_the_switch_is_empty")
    h.prove(~dut.flush | ~(flushing.any() | away), "one_flush_at_a_time")
    h.prove(~flushed | (away & ~flushing.any()), "answers_when_all_ports_have_answered")
    h.prove(~flushed | ((dut.flushed == working) & (dut.flushed == waiting)), "answers_all_that_asked")
    outlast(h, "a_flush_follows_within_two_cycles", waiting=whole & ~busy & ~dut.flush & ~away, cycles=2)
    outlast(h, "an_answer_follows_within_two_cycles", waiting=away & ~flushing.any() & ~flushed, cycles=2)
    asked, answered = part.signal("asked"), part.signal("answered")
    resting = h.past(~dut.moving & ~dut.asks.any(), "resting")
    h.prove(~resting | h.steady(Cat(asked, answered, dut.flush, dut.flushed), "state"), "rests_unless_moving")

    under_way = dut.flush | away
    h.invariant((waiting & ~working) == 0, "those_at_work_wait")
    h.invariant(asked == Mux(under_way, 0, waiting), "what_was_asked_waits")
    h.invariant(~under_way | (waiting == working), "all_wait_for_a_flush_under_way")
    h.invariant(answered == Mux(away & ~flushed, ~flushing, 0), "ports_that_answered")
    h.invariant(under_way | ~(flushing.any() | flushed), "nothing_else_is_under_way")
    h.invariant(~(dut.flush & (away | flushed | flushing.any())), "flush_comes_first")
    return h


def skid() -> Harness:
    """Return the harness of `Skid`: any producer and consumer, and a queue of two entries beside it."""
    h = Harness()
    part = h.add("dut", Skid(4))
    dut: Any = part.ports
    h.m.d.comb += [
        dut.input.valid.eq(h.free(1, "push")),
        dut.input.payload.eq(h.free(4, "entry")),
        dut.output.ready.eq(h.free(1, "pull")),
    ]
    pushed = h.net(dut.input.valid & dut.input.ready, "pushed")
    pulled = h.net(dut.output.valid & dut.output.ready, "pulled")
    held = h.counter("held", width=3, up=pushed, down=pulled)
    first, second = h.register(4, "expected"), h.register(4, "expected_then")
    with h.m.If(pulled):
        h.m.d.sync += first.eq(Mux(held == 2, second, dut.input.payload))
    with h.m.Elif(held == 0):
        h.m.d.sync += first.eq(dut.input.payload)
    with h.m.If(pushed & ((held == 2) | ((held == 1) & ~pulled))):
        h.m.d.sync += second.eq(dut.input.payload)
    h.prove(dut.output.valid == (held > 0), "offers_what_it_holds")
    h.prove(~dut.output.valid | (dut.output.payload == first), "entries_leave_in_order")
    h.prove(dut.input.ready == (held < 2), "takes_two_entries")
    h.obeys_stream_rules(dut.output, "output")
    h.invariant(held <= 2, "holds_two")
    h.invariant((held < 2) | (part.signal("entry") == second), "the_second_is_behind")
    h.invariant(part.signal("behind") == (held == 2), "behind_if_there_are_two")
    return h


def flushes_at_the_first(self: FlushBarrier, m: Module) -> None:
    """Flush as soon as one kernel has asked."""
    m.d.sync += self.flush.eq(driven(m, "asked").any() & ~self.busy)


def flushes_what_is_under_way(self: FlushBarrier, m: Module) -> None:
    """Do not look at the switch."""
    m.d.sync += self.flush.eq(driven(m, "complete"))


def flushes_without_end(self: FlushBarrier, m: Module) -> None:
    """Flush again and again until all ports have answered."""
    m.d.sync += self.flush.eq(driven(m, "start") | (self.flush & ~driven(m, "finish")))


def answers_at_the_first(self: FlushBarrier, m: Module) -> None:
    """Answer when one port has."""
    m.d.comb += driven(m, "finish").eq(self.answers.any())


def answers_the_first(self: FlushBarrier, m: Module) -> None:
    """Answer the first kernel only."""
    m.d.sync += self.flushed.eq(driven(m, "finish"))


def swaps(self: Skid, m: Module) -> None:
    """Show what came last."""
    with m.If(self.input.valid & self.input.ready):
        m.d.sync += Value.cast(self.output.payload).eq(self.input.payload)


_BARRIER, _SKID = f"{__name__}.FlushBarrier", f"{__name__}.Skid"

PROOFS = (
    Proof(
        name="flush-barrier",
        claim="The ports are flushed once for all kernels at work, when each has asked and the switch is empty, and "
        "each kernel is answered once, when all ports are flushed.",
        harness=flushes,
        broken=spoiled(
            _BARRIER,
            flushes_when_all_at_work_have_asked=flushes_at_the_first,
            flushes_when_the_switch_is_empty=flushes_what_is_under_way,
            one_flush_at_a_time=flushes_without_end,
            answers_when_all_ports_have_answered=answers_at_the_first,
            answers_all_that_asked=answers_the_first,
            a_flush_follows_within_two_cycles=falls("flush", registered=True),
            an_answer_follows_within_two_cycles=falls("flushed", registered=True),
            rests_unless_moving=sticks("moving", at=0),
        ),
    ),
    Proof(
        name="skid",
        claim="Entries leave in order, none is lost or repeated; there are two places.",
        harness=skid,
        depth=1,
        broken=(
            *spoiled(
                _SKID,
                offers_what_it_holds=falls("output.valid", registered=True),
                entries_leave_in_order=swaps,
                takes_two_entries=sticks("input.ready", at=0),
            ),
            *breaking(_SKID, "output", registered=True),
        ),
    ),
)
