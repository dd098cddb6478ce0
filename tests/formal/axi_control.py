"""Proofs about the register slave on AXI4-Lite, with the dispatch behind it."""

from typing import Any

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib.wiring import connect

from cyscc.hw.axi.control import AxiControl
from cyscc.hw.axi.registers import IDENTITY, ControlRegister
from cyscc.hw.axi.signatures import Resp
from cyscc.hw.config import PRESETS
from cyscc.hw.dispatch import Dispatch
from cyscc.hw.registers import KERNEL_WINDOW, Instruction, Register, kernel_register
from tests.formal.harness import Harness, Part
from tests.formal.proof import Proof
from tests.formal.watch import channel, outlast

CONFIG = PRESETS["test"]
OKAY, SLVERR = Value.cast(Resp.OKAY), Value.cast(Resp.SLVERR)


def control() -> Harness:
    """Return the harness of `AxiControl` before a `Dispatch`: any host, any runs, any answers of kernels."""
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
    Proof(
        name="axi-control",
        claim="The slave obeys the rules of AXI4-Lite: one stable response to each access, one access at a time. A "
        "parameter or a known instruction is passed on, once and while the engine is idle, exactly if the host gets "
        "an OKAY; both halves of a value are from the same read.",
        harness=control,
    ),
)
