"""Proofs about a memory port on AXI: its accesses to the memory, and the responses to them."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Value

from cyscc.hw.axi.limits import AxiLimits
from cyscc.hw.axi.memory_port import AxiMemoryPort
from cyscc.hw.axi.signatures import Resp
from cyscc.hw.interfaces import SIZE_8
from tests.formal.faults import falls, spoiled, sticks
from tests.formal.harness import Harness, Part
from tests.formal.proof import Proof
from tests.formal.watch import channel, outlast, watch

LIMIT = 4


def _open() -> tuple[Harness, Part, Any, Any]:
    """Return a harness with a memory port in it, and the port's two sides."""
    h = Harness()
    part = h.add("dut", AxiMemoryPort(AxiLimits(outstanding_reads=LIMIT, outstanding_writes=LIMIT)))
    return h, part, part.ports.port, part.ports.axi


def _requests(h: Harness, source: Any, name: str) -> tuple[Any, Any]:
    """Offer requests by the rules of streams; return whether one is accepted, and the one that was last."""
    h.offer(source, name)
    accepted = h.net(source.valid & source.ready, f"{name}_accepted")
    layout = source.payload.shape()
    last = layout(h.register(layout.size, f"last_{name}"))
    with h.m.If(accepted):
        h.m.d.sync += last.eq(source.payload)
    return accepted, last


def _address_channel(h: Harness, axi: Any, prefix: str, *, accepted: Any, last: Any) -> tuple[Any, Any]:
    """Claim the rules of a channel with addresses; return whether a request is sent, and how many wait for it."""
    get = {
        name: getattr(axi, prefix + name) for name in ("addr", "size", "len", "burst", "lock", "cache", "prot", "id")
    }
    valid, ready = getattr(axi, f"{prefix}valid"), getattr(axi, f"{prefix}ready")
    h.m.d.comb += ready.eq(h.free(1, f"{prefix}_may_be_taken"))
    h.obeys_stream_rules(channel(h, prefix, valid=valid, ready=ready, payload=list(get.values())), prefix)
    sent = h.net(valid & ready, f"{prefix}_sent")
    waiting = h.counter(f"{prefix}_waiting", width=4, up=accepted, down=sent)
    h.prove(waiting == valid, f"{prefix}_sends_each_request_once")
    h.prove(~h.first | ~valid, f"{prefix}_is_not_valid_after_reset")
    size = Mux(last.size == SIZE_8, 3, 2)
    one_beat = (get["len"] == 0) & (get["burst"] == 1) & (get["id"] == 0)
    right = (get["addr"] == last.address) & (get["size"] == size) & one_beat
    h.prove(~valid | right, f"{prefix}_is_one_beat_of_the_size_at_the_address")
    return sent, waiting


def reads() -> Harness:
    """Return the harness of the reads: any reads, a memory that answers in order after any delay."""
    h, part, port, axi = _open()
    accepted, last = _requests(h, port.read, "read")
    sent, waiting = _address_channel(h, axi, "ar", accepted=accepted, last=last)

    data, resp, offered = h.free(64, "data"), h.free(2, "resp"), h.free(1, "rvalid")
    h.m.d.comb += [axi.rvalid.eq(offered), axi.rdata.eq(data), Value.cast(axi.rresp).eq(resp)]
    h.assume_stream_rules(channel(h, "r", valid=offered, ready=axi.rready, payload=[data, resp]), "r")
    answered = h.net(offered & axi.rready, "answered")
    at_memory = h.counter("at_memory", width=8, up=sent, down=answered)
    h.assume(~offered | (at_memory > 0), "answers_only_to_requests")

    notes = part.part("notes")
    request = port.read.payload
    entry = Cat(request.tag, request.size, request.address[2])
    watched = watch(h, notes, "notes", pushed=accepted, popped=answered, entry=entry)
    tag, size, upper, held = watched.value[:2], watched.value[2], watched.value[3], watched.held
    h.prove(held <= LIMIT, "never_more_reads_than_the_limit")
    h.prove(
        port.read.ready == ((held < LIMIT) & (~axi.arvalid | axi.arready)), "reads_wait_only_for_the_limit_or_a_stall"
    )
    failed = h.net(resp != Resp.OKAY, "failed")
    element = Mux(upper, data[32:], data[:32])
    expected = h.past(Cat(Mux(failed, 0, Mux(size == SIZE_8, data, element))[:64], tag), "expected")
    own = port.response.valid & (Value.cast(port.response.payload) == expected)
    h.prove(~h.past(watched.leaves, "leaves") | own, "a_read_gets_its_own_answer")
    h.prove(port.response.valid == h.past(answered, "answered"), "every_answer_is_passed_on_once")
    h.prove(part.ports.read_failed == h.past(answered & failed, "answered_failed"), "every_failed_read_is_told_of")
    outlast(h, "an_answer_is_taken_in_its_second_cycle", waiting=offered & ~axi.rready, cycles=1)

    h.invariant(part.part("read_credits").ports.count + held == LIMIT, "free_places_and_reads_are_all_places")
    h.invariant(waiting + at_memory == held, "reads_wait_or_are_at_the_memory")
    near = notes.ports.output.valid | notes.part("fifo").signal("r_rdy")
    h.invariant(near | (waiting == held), "a_read_is_sent_after_its_note")
    return h


def writes() -> Harness:
    """Return the harness of the writes: any writes and flushes, a memory that answers what it took as a whole."""
    h, part, port, axi = _open()
    accepted, last = _requests(h, port.write, "write")
    aw_sent, aw_waiting = _address_channel(h, axi, "aw", accepted=accepted, last=last)
    h.m.d.comb += axi.wready.eq(h.free(1, "w_may_be_taken"))
    payload = [axi.wdata, axi.wstrb, axi.wlast]
    h.obeys_stream_rules(channel(h, "w", valid=axi.wvalid, ready=axi.wready, payload=payload), "w")
    w_sent = h.net(axi.wvalid & axi.wready, "w_sent")
    w_waiting = h.counter("w_waiting", width=4, up=accepted, down=w_sent)
    h.prove(w_waiting == axi.wvalid, "w_sends_each_write_once")
    h.prove(~h.first | ~axi.wvalid, "w_is_not_valid_after_reset")
    upper = last.address[2]
    whole = (axi.wstrb == 0xFF) & (axi.wdata == last.data)
    strobes, half = Mux(upper, 0xF0, 0x0F), Mux(upper, axi.wdata[32:], axi.wdata[:32])
    right = Mux(last.size == SIZE_8, whole, (axi.wstrb == strobes) & (half == last.data[:32]))
    h.prove(~axi.wvalid | right, "w_has_the_data_on_the_lanes_of_the_address")
    h.prove(~axi.wvalid | axi.wlast, "every_beat_is_the_last")

    offered, resp = h.free(1, "bvalid"), h.free(2, "resp")
    h.m.d.comb += [axi.bvalid.eq(offered), Value.cast(axi.bresp).eq(resp)]
    h.assume_stream_rules(channel(h, "b", valid=offered, ready=axi.bready, payload=[resp]), "b")
    answered = h.net(offered & axi.bready, "answered")
    aw_at_memory = h.counter("aw_at_memory", width=8, up=aw_sent, down=answered)
    w_at_memory = h.counter("w_at_memory", width=8, up=w_sent, down=answered)
    h.assume(~offered | ((aw_at_memory > 0) & (w_at_memory > 0)), "answers_only_to_what_was_taken_whole")
    held = h.counter("held", width=8, up=accepted, down=answered)
    h.prove(held <= LIMIT, "never_more_writes_than_the_limit")
    stall = (axi.awvalid & ~axi.awready) | (axi.wvalid & ~axi.wready)
    h.prove(port.write.ready == ((held < LIMIT) & ~stall), "writes_wait_only_for_the_limit_or_a_stall")
    h.prove(~offered | axi.bready, "every_answer_is_taken_at_once")
    failed = h.past(answered & (resp != Resp.OKAY), "answered_failed")
    h.prove(part.ports.write_failed == failed, "every_failed_write_is_told_of")
    h.invariant(part.part("write_credits").ports.count + held == LIMIT, "free_places_and_writes_are_all_places")
    h.invariant(aw_waiting + aw_at_memory == held, "addresses_wait_or_are_at_the_memory")
    h.invariant(w_waiting + w_at_memory == held, "data_wait_or_are_at_the_memory")
    _flushes(h, part, port, held=held, accepted=accepted, answered=answered)
    return h


def _flushes(h: Harness, part: Part, port: Any, *, held: Any, accepted: Any, answered: Any) -> None:
    """Ask for one flush at a time, and claim that it is answered once, and not before its writes are."""
    flush = h.free(1, "flush")
    h.m.d.comb += port.flush.eq(flush)
    asked = h.flag("flush_asked", set=flush, clear=port.flushed)
    h.assume(~flush | ~asked | port.flushed, "one_flush_at_a_time")
    before = h.register(8, "writes_before_the_flush")
    with h.m.If(flush):
        h.m.d.sync += before.eq(held + accepted - answered)
    with h.m.Elif(before > 0):
        h.m.d.sync += before.eq(before - answered)
    h.prove(~port.flushed | (before == 0), "flushed_when_every_write_before_is_answered")
    h.prove(~port.flushed | asked, "flushed_once_for_each_flush")
    outlast(h, "a_flush_waits_for_writes_only", waiting=asked & (held == 0) & ~port.flushed, cycles=1)
    h.invariant(asked == (part.signal("flushing") ^ port.flushed), "a_flush_is_remembered")
    h.invariant(~(part.signal("flushing") & port.flushed), "a_flush_is_answered_or_not")
    h.invariant(before <= held, "what_was_before_the_flush_is_held")


def is_valid_after_reset(self: AxiMemoryPort, m: Module) -> None:
    """Begin with requests that were never made."""
    for signal in (self.axi.arvalid, self.axi.awvalid, self.axi.wvalid):
        signal._init = 1


_PORT = f"{__name__}.AxiMemoryPort"

PROOFS = (
    Proof(
        name="axi-reads",
        claim="Valid signals stay valid until accepted; every read is sent once and gets its own response; the limit "
        "of outstanding reads holds; a response waits at most one cycle.",
        harness=reads,
        broken=spoiled(_PORT, ar_is_not_valid_after_reset=is_valid_after_reset),
    ),
    Proof(
        name="axi-writes",
        claim="Valid signals stay valid until accepted; every write is sent once, on the byte lanes of its address; "
        "the limit of outstanding writes holds; a flush is answered once, after all earlier writes.",
        harness=writes,
        broken=spoiled(
            _PORT,
            aw_is_not_valid_after_reset=is_valid_after_reset,
            w_is_not_valid_after_reset=is_valid_after_reset,
            every_beat_is_the_last=sticks("axi.wlast", at=0),
            every_answer_is_taken_at_once=falls("axi.bready"),
        ),
    ),
)
