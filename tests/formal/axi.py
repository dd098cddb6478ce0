"""Proofs about AXI: memory port and accesses, and the register slave with the dispatch behind it."""

from typing import Any

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib.wiring import connect

from cyscc.hw.axi.control import AxiControl
from cyscc.hw.axi.limits import AxiLimits
from cyscc.hw.axi.memory_port import AxiMemoryPort
from cyscc.hw.axi.registers import IDENTITY, ControlRegister
from cyscc.hw.axi.signatures import Resp
from cyscc.hw.config import PRESETS
from cyscc.hw.dispatch import Dispatch
from cyscc.hw.interfaces import SIZE_8
from cyscc.hw.registers import KERNEL_WINDOW, Instruction, Register, kernel_register
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
    """Return the harness of the reads: any reads, a memory that answers in order after any delay.

    Claim: Valid signals stay valid until accepted; every read is sent once and gets its own response; the limit of
    outstanding reads holds; a response waits at most one cycle.
    """
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
    """Return the harness of the writes: any writes and flushes, a memory that answers what it took as a whole.

    Claim: Valid signals stay valid until accepted; every write is sent once, on the byte lanes of its address; the
    limit of outstanding writes holds; a flush is answered once, after all earlier writes.
    """
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


_MEMORY_PROOFS = (
    Proof(name="axi-reads", harness=reads),
    Proof(name="axi-writes", harness=writes),
)


CONFIG = PRESETS["test"]
OKAY, SLVERR = Value.cast(Resp.OKAY), Value.cast(Resp.SLVERR)


def control() -> Harness:
    """Return the harness of `AxiControl` before a `Dispatch`: any host, any runs, any answers of kernels.

    Claim: The slave obeys the rules of AXI4-Lite: one stable response to each access, one access at a time. A parameter
    or a known instruction is passed on, once and while the engine is idle, exactly if the host gets an OKAY; both
    halves of a value are from the same read.
    """
    h = Harness()
    part = h.add("dut", AxiControl(CONFIG))
    dut, axi = part.ports, part.ports.axi
    behind = h.add(
        "dispatch", Dispatch(bfs_kernels=CONFIG.bfs_kernels, intersection_kernels=CONFIG.intersection_kernels)
    )
    dispatch = behind.ports
    connect(h.m, dut.write, dispatch.write)
    connect(h.m, dut.read, dispatch.read)
    connect(h.m, dispatch.data, dut.data)
    connect(h.m, dut.instruction, dispatch.instruction)
    h.m.d.comb += [dut.idle.eq(dispatch.idle), dut.exception.eq(dispatch.exception)]
    for number, port in enumerate(_inputs(dut, dispatch)):
        h.m.d.comb += port.eq(h.free(Value.cast(port).shape(), f"input{number}"))
    address = channel(h, "aw", valid=axi.awvalid, ready=axi.awready, payload=[axi.awaddr])
    data = channel(h, "w", valid=axi.wvalid, ready=axi.wready, payload=[axi.wdata, axi.wstrb])
    question = channel(h, "ar", valid=axi.arvalid, ready=axi.arready, payload=[axi.araddr])
    for offered, name in ((address, "aw"), (data, "w"), (question, "ar")):
        h.assume_stream_rules(offered, name)
    written = channel(h, "b", valid=axi.bvalid, ready=axi.bready, payload=[axi.bresp])
    answered = channel(h, "r", valid=axi.rvalid, ready=axi.rready, payload=[axi.rresp, axi.rdata])
    for answer, name in ((written, "b"), (answered, "r")):
        h.obeys_stream_rules(answer, name)
    h.prove(
        ~axi.bvalid | (Value.cast(axi.bresp) == OKAY) | (Value.cast(axi.bresp) == SLVERR),
        "writes_end_well_or_with_slverr",
    )

    writing, reading = (
        h.net(address.valid & address.ready, "writing"),
        h.net(question.valid & question.ready, "reading"),
    )
    h.prove(writing == (data.valid & data.ready), "address_and_data_are_taken_together")
    writes = h.counter("writes", width=4, up=writing, down=written.valid & written.ready)
    reads = h.counter("reads", width=4, up=reading, down=answered.valid & answered.ready)
    h.prove(writes + reads <= 1, "one_access_at_a_time")
    h.prove((~axi.bvalid | (writes == 1)) & (~axi.rvalid | (reads == 1)), "one_answer_to_each_access")
    both = axi.awvalid & axi.wvalid
    taken = (~both | writing) & (~axi.arvalid | both | reading)
    h.prove(Cat(writes, reads).any() | taken, "an_idle_slave_takes_what_is_offered")
    asked = h.flag("asked", set=dut.read.valid & dut.read.ready, clear=dispatch.data.valid)
    outlast(h, "a_write_is_answered_in_its_second_cycle", waiting=(writes > 0) & ~axi.bvalid, cycles=1)
    outlast(h, "a_read_waits_for_kernels_only", waiting=(reads > 0) & ~axi.rvalid & ~asked, cycles=1)

    idle = dispatch.idle
    h.prove(~dut.write.valid & ~dut.instruction.valid | idle, "parameters_and_instructions_only_while_idle")
    h.prove((~dut.write.valid | dut.write.ready) & ~dispatch.exception, "the_engine_takes_what_it_is_given")
    was_running = h.past(~idle, "running")
    h.prove(~was_running | h.steady(dut.engine, "engine"), "the_number_of_the_engine_is_steady_in_a_run")
    failed = h.past(Cat(dut.read_failed, dut.write_failed), "failed")
    errors = Cat(part.signal("read_errors"), part.signal("write_errors"))
    h.prove((failed & ~errors) == 0, "every_failure_is_kept")
    h.invariant(behind.state("IDLE") == idle, "the_engine_is_idle_or_not")
    h.invariant(part.state("IDLE") == (writes + reads == 0), "the_slave_is_idle_or_not")
    h.invariant(part.state("WRITE") == h.past(writing, "writing"), "a_write_is_done_a_cycle_later")
    h.invariant((part.state("WRITTEN") | part.state("WRITE")) == (writes == 1), "a_write_is_under_way")
    h.invariant(
        (part.state("READ") | part.state("AWAIT") | part.state("ANSWER")) == (reads == 1), "a_read_is_under_way"
    )
    h.invariant(part.state("AWAIT") == asked, "what_was_asked_is_awaited")
    h.invariant(asked == (~behind.state("IDLE", of="reader") | dispatch.data.valid), "the_engine_was_asked")
    h.invariant(~(dispatch.data.valid & ~behind.state("IDLE", of="reader")), "the_engine_answers_once")
    _written(h, part, writing=writing)
    _read(h, part, reading=reading, asked=asked)
    return h


def _inputs(dut: Any, dispatch: Any) -> list[Any]:
    """Return all that host, memory ports and modules drive."""
    axi = dut.axi
    names = ("parameter", "complete", "failed", "result", "result_valid")
    questions, answers = (
        [getattr(dispatch, f"{module}_{what}") for module in ("bfs", "intersection")] for what in ("question", "answer")
    )
    return [
        *(getattr(dispatch, name) for name in names),
        *(question.ready for question in questions),
        *(part for answer in answers for part in (answer.valid, answer.payload)),
        *(dut.read_failed, dut.write_failed),
        *(axi.awvalid, axi.awaddr, axi.wvalid, axi.wdata, axi.wstrb, axi.arvalid, axi.araddr, axi.bready, axi.rready),
    ]


def _written(h: Harness, part: Part, *, writing: Any) -> None:
    """Claim that an access takes effect exactly if the host gets an OKAY."""
    dut, axi = part.ports, part.ports.axi
    address, value = h.register(15, "written_address"), h.register(32, "written")
    whole, low = h.register(1, "whole"), h.register(32, "written_low")
    with h.m.If(writing):
        h.m.d.sync += [address.eq(axi.awaddr[2:]), value.eq(axi.wdata), whole.eq(axi.wstrb == 0xF)]
    number = address[1:]
    parameter = h.net(whole & (number < Register.STATUS), "is_parameter")
    dispatching = h.net(whole & (address == ControlRegister.DISPATCH >> 2), "is_dispatch")
    with h.m.If(h.past(writing, "just_written") & parameter & ~address[0]):
        h.m.d.sync += low.eq(value)
    right = parameter & address[0] & (dut.write.payload.index == number) & (dut.write.payload.value == Cat(low, value))
    h.prove(~dut.write.valid | right, "parameters_are_written_as_a_whole")
    known = (value == Instruction.BFS_LEVEL) | (value == Instruction.INTERSECTION)
    instruction = dispatching & known & (dut.instruction.payload == value)
    h.prove(~dut.instruction.valid | instruction, "instructions_are_known_and_asked_for")
    given = (dut.write.valid & dut.write.ready) | (dut.instruction.valid & dut.instruction.ready)
    orders = h.counter("orders", width=4, up=given, clear=writing)
    order = (parameter & address[0]) | dispatching
    h.prove(~axi.bvalid | (orders == (order & (Value.cast(axi.bresp) == OKAY))), "done_once_if_told_so_and_else_not")
    h.prove(~axi.bvalid | whole | (Value.cast(axi.bresp) == SLVERR), "a_part_of_a_register_is_not_written")
    held = Cat(part.signal("address"), part.signal("value"), part.signal("whole"))
    h.invariant(
        ~part.state("WRITE") | ((held == Cat(address, value, whole)) & (orders == 0)), "what_is_written_is_held"
    )
    h.invariant(dut.write.payload.value[:32] == low, "the_low_half_is_held")


def _read(h: Harness, part: Part, *, reading: Any, asked: Any) -> None:
    """Claim that both halves are of one reading, and that only what exists is read."""
    dut, axi = part.ports, part.ports.axi
    address, word = h.register(15, "read_address"), h.register(64, "word")
    with h.m.If(reading):
        h.m.d.sync += address.eq(axi.araddr[2:])
    with h.m.If(asked & dut.data.valid):
        h.m.d.sync += word.eq(dut.data.payload)
    number = address[1:]
    end = kernel_register(CONFIG.bfs_kernels + CONFIG.intersection_kernels, 0)
    engines = h.net((number <= Register.CYCLES) | ((number >= KERNEL_WINDOW) & (number < end)), "is_of_the_engine")
    own = h.net(
        Cat(address == register >> 2 for register in ControlRegister if register != ControlRegister.DISPATCH).any(),
        "is_of_the_slave",
    )
    half = Mux(address[0], word[32:], word[:32])
    h.prove(~(axi.rvalid & engines) | (axi.rdata == half), "both_halves_are_of_one_reading")
    identity = axi.rvalid & (address == ControlRegister.IDENTITY >> 2)
    h.prove(~identity | (axi.rdata == IDENTITY), "the_identity_is_read")
    h.prove(
        ~axi.rvalid | (Value.cast(axi.rresp) == Mux(engines | own, OKAY, SLVERR)),
        "reads_end_well_if_the_register_exists",
    )
    busy = part.state("READ") | part.state("AWAIT") | part.state("ANSWER")
    h.invariant(~busy | (part.signal("address") == address), "the_address_is_held")
    h.invariant(part.state("AWAIT") | (part.signal("high") == word[32:]), "the_high_half_is_held")
    h.invariant(
        ~part.state("AWAIT") | (engines & ~address[0] & (Value.cast(axi.rresp) == OKAY)),
        "only_low_halves_are_asked_for",
    )


PROOFS = (
    *_MEMORY_PROOFS,
    Proof(name="axi-control", harness=control),
)
