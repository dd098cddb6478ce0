"""Proofs about the switch's flush barrier, and the registers between its streams."""

from dataclasses import dataclass
from typing import Any, Self

from amaranth.hdl import Cat, Mux, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from cyscc.hw.interfaces import drive
from cyscc.hw.switch.flush_barrier import FlushBarrier
from cyscc.hw.switch.skid import Skid
from cyscc.hw.switch.switch import Switch, SwitchSizes
from cyscc.hw.verilog import port_names
from tests.formal.harness import Harness, Part, Stub, free_ports, opened
from tests.formal.proof import Proof
from tests.formal.watch import outlast

KERNELS = 3
LINKS = 2
_MOST_HELD = 5
"""Requests that a kernel slice holds at most: two reads, two writes, and the one that it sends."""
_MOST_QUEUED = KERNELS * 8
"""Requests that a link slice holds at most: what its queues hold, and what is read of each."""


@dataclass(frozen=True, kw_only=True)
class _Flushes:
    """Flushes under way between kernels that ask once a run and ports that answer after any delay.

    Parameters
    ----------
    waiting : Signal
        The kernels that asked and have no answer.
    flushing : Signal
        The ports that have not answered.
    away : Signal
        From the flush of the ports to the answer for the kernels.
    whole : Signal
        All kernels at work wait.
    """

    waiting: Any
    flushing: Any
    away: Any
    whole: Any

    @classmethod
    def of(cls, h: Harness, part: Part) -> Self:
        """Return those of a `FlushBarrier`, with what is assumed of kernels and ports; adds the invariants."""
        dut: Any = part.ports
        working, asks, answers = dut.working, dut.asks, dut.answers
        waiting = h.register(KERNELS, "waiting")
        h.m.d.sync += waiting.eq((waiting | asks) & ~dut.flushed)
        flushing = h.register(LINKS, "flushing")
        h.m.d.sync += flushing.eq(Mux(dut.flush, -1, flushing) & ~answers)
        away = h.register(1, "away")
        h.m.d.sync += away.eq((away | dut.flush) & ~dut.flushed.any())
        h.assume((asks & (waiting | ~working)) == 0, "asks_while_at_work_and_once")
        h.assume(~(answers & ~Mux(dut.flush, Value.cast(-1)[:LINKS], flushing)).any(), "ports_answer_a_flush")
        h.assume(h.steady(working, "working") | (waiting == 0), "the_kernels_at_work_change_between_runs")
        h.assume(working.any(), "a_kernel_is_at_work")

        flushed, under_way = dut.flushed.any(), dut.flush | away
        asked, answered = part.signal("asked"), part.signal("answered")
        h.invariant((waiting & ~working) == 0, "those_at_work_wait")
        h.invariant(asked == Mux(under_way, 0, waiting), "what_was_asked_waits")
        h.invariant(~under_way | (waiting == working), "all_wait_for_a_flush_under_way")
        h.invariant(answered == Mux(away & ~flushed, ~flushing, 0), "ports_that_answered")
        h.invariant(under_way | ~(flushing.any() | flushed), "nothing_else_is_under_way")
        h.invariant(~(dut.flush & (away | flushed | flushing.any())), "flush_comes_first")
        return cls(waiting=waiting, flushing=flushing, away=away, whole=waiting.any() & (waiting == working))


def flushes() -> Harness:
    """Return the harness of `FlushBarrier`: kernels that ask once a run, and ports that answer after any delay.

    Claim: The ports are flushed once for all kernels at work, when each has asked and the switch is empty, and each
    kernel is answered once, when all ports are flushed.

    A kernel writes nothing after it asked, so once all have asked, the switch only becomes empty, as `switch-busy`
    proves.
    """
    h, part, dut = opened(FlushBarrier(kernels=KERNELS, links=LINKS), free=["asks", "answers", "working", "busy"])
    each = _Flushes.of(h, part)
    waiting, flushing, away, whole, busy = each.waiting, each.flushing, each.away, each.whole, dut.busy
    h.assume(~(h.past(whole, "whole") & whole & ~h.past(busy, "was_busy")) | ~busy, "then_the_switch_becomes_empty")

    flushed = dut.flushed.any()
    h.prove(~dut.flush | whole, "flushes_when_all_at_work_have_asked")
    h.prove(~dut.flush | ~h.past(busy, "busy"), "flushes_when_the_switch_is_empty")
    h.prove(~dut.flush | ~(flushing.any() | away), "one_flush_at_a_time")
    h.prove(~flushed | (away & ~flushing.any()), "answers_when_all_ports_have_answered")
    h.prove(~flushed | ((dut.flushed == dut.working) & (dut.flushed == waiting)), "answers_all_that_asked")
    outlast(h, "a_flush_follows_within_two_cycles", waiting=whole & ~busy & ~dut.flush & ~away, cycles=2)
    outlast(h, "an_answer_follows_within_two_cycles", waiting=away & ~flushing.any() & ~flushed, cycles=2)
    asked, answered = part.signal("asked"), part.signal("answered")
    resting = h.past(~dut.moving & ~dut.asks.any(), "resting")
    h.prove(~resting | h.steady(Cat(asked, answered, dut.flush, dut.flushed), "state"), "rests_unless_moving")
    return h


def _count(bits: Any) -> Value:
    """Return how many bits are set."""
    return sum((Value.cast(bit) for bit in bits[1:]), Value.cast(bits[0]))


def _requests(port: Any) -> list[Value]:
    """Return whether a read and whether a write is taken at a port."""
    return [channel.valid & channel.ready for channel in (port.read, port.write)]


def switch_busy() -> Harness:
    """Return the harness of a `Switch` and its `FlushBarrier`: slices that do what their proofs show.

    Claim: The switch is busy exactly while it holds a request, from the cycle after a kernel's port took it until a
    memory port takes it; ports are flushed only when it holds none; once it is empty and all kernels at work have asked
    for a flush, it stays empty until they are answered.

    A kernel at work asks for a flush after its last request of a run, and has no other one until it is answered.
    """
    h = Harness()
    slices: list[Any] = []

    def stub(sound: wiring.Component) -> wiring.Component:
        made = Stub.of(sound)
        slices.append(made.twin)
        return made

    sizes = SwitchSizes(kernels=KERNELS, link_bits=(4,), depth=4)
    dut: Any = h.add("dut", Switch(sizes, make_slice=stub)).ports
    inner = h.add("barrier", FlushBarrier(kernels=KERNELS, links=LINKS))
    barrier: Any = inner.ports
    for number, each in enumerate(slices):
        free_ports(h, f"slice{number}", each, PortDirection.Output)
    for name, (port, way) in port_names(dut).items():
        if way == PortDirection.Input and name not in ("flush", "flushed"):
            h.m.d.comb += port.eq(h.free(len(port), name))
    h.drive(h.free, barrier, "working")
    h.m.d.comb += [
        *drive(barrier, asks=dut.asks, busy=dut.busy, answers=dut.answers),
        *drive(dut, flush=barrier.flush, flushed=barrier.flushed),
    ]
    kernels = [getattr(dut, f"kernel{n}") for n in range(KERNELS)]
    ports = [getattr(dut, f"port{n}") for n in range(LINKS)]
    of_kernels, of_links = slices[:KERNELS], slices[KERNELS:]

    # What the proofs of the slices show: each knows whether it holds a request, and sends only what it holds.
    held = []
    for n, part in enumerate(of_kernels):
        came, sends = h.net(_count(_requests(part.port)), f"came{n}"), h.net(part.send.any(), f"sends{n}")
        held.append(h.counter(f"held{n}", width=4, up=came, down=sends))
        h.assume(held[n] <= _MOST_HELD, f"kernel{n}_has_places")
        h.assume(part.busy == (held[n] > 0), f"kernel_slice{n}_knows_what_it_holds")
        h.assume((part.send & (part.send - 1)[:LINKS]) == 0, f"kernel_slice{n}_sends_one")
        h.assume(~sends | (held[n] > 0), f"kernel_slice{n}_sends_what_came")
    queued = []
    for n, part in enumerate(of_links):
        offers = Cat(part.port.read.valid, part.port.write.valid)
        queued.append(h.counter(f"queued{n}", width=7, up=_count(part.push), down=Cat(_requests(part.port)).any()))
        h.assume(queued[n] <= _MOST_QUEUED, f"link{n}_has_places")
        h.assume(part.busy == (queued[n] > 0), f"link_slice{n}_knows_what_it_holds")
        h.assume(~offers.all(), f"link_slice{n}_offers_one")
        h.assume(~offers.any() | (queued[n] > 0), f"link_slice{n}_offers_what_came")

    came = h.net(_count([bit for port in kernels for bit in _requests(port)]), "came")
    left = h.net(_count([bit for port in ports for bit in _requests(port)]), "left")
    inside = h.counter("inside", width=10, up=came, down=left)
    flush = _Flushes.of(h, inner)
    requested = Cat(Cat(_requests(port)).any() for port in kernels)
    blocked = flush.waiting | ~barrier.working
    h.assume((requested & blocked) == 0, "no_request_between_asking_and_the_answer")

    h.prove(dut.busy == (inside > 0), "busy_while_a_request_is_in_the_switch")
    flushed = Cat(port.flush for port in ports)
    h.prove(~flushed.any() | (flushed.all() & (inside == 0)), "all_ports_are_flushed_when_no_request_is_inside")
    empty = h.past(flush.whole & ~dut.busy, "whole_and_empty")
    h.prove(~(empty & flush.whole) | ~dut.busy, "stays_empty_until_the_kernels_are_answered")
    h.invariant(inside == _count([*held, *queued]), "what_is_inside_is_in_a_slice")
    h.invariant(~barrier.flush | ~dut.busy, "the_switch_is_empty_at_a_flush")
    return h


def skid() -> Harness:
    """Return the harness of `Skid`: any producer and consumer, and a queue of two entries beside it.

    Claim: Entries leave in order, none is lost or repeated; there are two places.
    """
    h, part, dut = opened(Skid(4))
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


PROOFS = (
    Proof(name="flush-barrier", harness=flushes),
    Proof(name="switch-busy", harness=switch_busy),
    Proof(name="skid", harness=skid, depth=1),
)
