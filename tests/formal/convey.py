"""Proofs about a memory port and the dispatch on the signals of the HC-2."""

from typing import Any

from amaranth.hdl import Cat, Mux, Value

from cyscc.hw.convey.dispatch import ConveyDispatch
from cyscc.hw.convey.memory_port import ConveyMemoryPort
from cyscc.hw.interfaces import SIZE_8
from cyscc.hw.registers import Instruction
from tests.formal.harness import Harness, Part, opened
from tests.formal.proof import Proof
from tests.formal.watch import outlast, watch

REGISTERS = 20
"""Registers that exist."""
ON_THE_WAY = 8
"""Commands that may come after the host was told to stop."""
WRITE, READ, INSTRUCTION = range(3)


def memory_port() -> Harness:
    """Return the harness of `ConveyMemoryPort`: any requests, any stalls, any answers.

    Claim: A load and a store are never sent in the same cycle; every request is sent once, a cycle later; at most two
    are sent after a stall begins; no store that precedes a flush is sent after it.
    """
    h, _, dut = opened(ConveyMemoryPort())
    port, mc = dut.port, dut.mc
    h.offer(port.read, "read")
    h.offer(port.write, "write")
    h.drive(h.free, mc, "rd_rq_stall", "wr_rq_stall", "rsp_push", "rsp_data", "rsp_rdctl", "rsp_flush_cmplt")
    flush = h.free(1, "flush")
    h.m.d.comb += port.flush.eq(flush)

    h.prove(~(mc.req_ld & mc.req_st), "never_a_load_and_a_store_at_once")
    asked = port.read.payload
    reading = h.net(port.read.valid & port.read.ready, "reading")
    h.prove(mc.req_ld == h.past(reading, "reading"), "every_read_is_one_load")
    load = h.past(Cat(asked.size, 1, asked.address, asked.tag), "load")
    request = Cat(mc.req_size, mc.req_vadr)
    h.prove(~mc.req_ld | (Cat(request, mc.req_wrd_rdctl) == load), "a_load_is_of_the_word_that_is_read")
    given = port.write.payload
    writing = h.net(port.write.valid & port.write.ready, "writing")
    h.prove(mc.req_st == h.past(writing, "writing"), "every_write_is_one_store")
    data = Mux(given.size == SIZE_8, given.data, given.data[:32].replicate(2))
    store = h.past(Cat(given.size, 1, given.address, data), "store")
    h.prove(~mc.req_st | (Cat(request, mc.req_wrd_rdctl) == store), "a_store_is_of_the_word_that_is_written")
    for name, stall, sent in (("load", mc.rd_rq_stall, mc.req_ld), ("store", mc.wr_rq_stall, mc.req_st)):
        slack = h.counter(f"{name}s_in_a_stall", width=4, up=sent, clear=~stall)
        h.prove(~stall | (slack + sent <= 2), f"a_stall_lets_two_{name}s_leave")
    outlast(
        h, "a_write_waits_for_stalls_only", waiting=port.write.valid & ~port.write.ready & ~mc.wr_rq_stall, cycles=1
    )
    outlast(
        h,
        "a_read_waits_for_stalls_and_writes_only",
        waiting=port.read.valid & ~port.read.ready & ~mc.rd_rq_stall & ~port.write.valid,
        cycles=1,
    )

    before = h.register(8, "stores_before_the_flush")
    waiting = h.counter("stores_waiting", width=8, up=writing, down=mc.req_st)
    h.invariant(waiting == mc.req_st, "a_store_waits_a_cycle")
    with h.m.If(flush):
        h.m.d.sync += before.eq(waiting + writing - mc.req_st)
    h.prove(mc.req_flush == h.past(flush, "flush"), "every_flush_leaves_once")
    h.prove(~mc.req_flush | (before == mc.req_st), "no_store_before_a_flush_leaves_after_it")
    answer = Cat(port.response.valid, Value.cast(port.response.payload))
    told = h.past(Cat(mc.rsp_push, mc.rsp_data, mc.rsp_rdctl[:2]), "answer")
    h.prove(answer == told, "every_answer_is_passed_on_once")
    h.prove(port.flushed == h.past(mc.rsp_flush_cmplt, "complete"), "every_complete_flush_is_told_of")
    h.prove(~mc.rsp_stall, "answers_are_never_stalled")
    return h


def dispatch() -> Harness:
    """Return the harness of `ConveyDispatch`: a host that heeds the stall late, and any runs of the engine.

    Claim: Every command has a place in the queue if the host sends at most 8 commands after the stall; commands leave
    in order, once, and only while the engine is idle.
    """
    h = Harness()
    part = h.add("dut", ConveyDispatch(registers=REGISTERS))
    dut, cae = part.ports, part.ports.cae
    h.drive(h.free, cae, "inst_val", "inst_caep", "inst_aeg_wr", "inst_aeg_rd", "inst_aeg_idx")
    h.drive(h.free, cae, "cae_data", "err_unimpl")
    one = cae.inst_val + cae.inst_aeg_wr + cae.inst_aeg_rd
    h.assume(one <= 1, "one_command_at_a_time")
    late = h.counter("late", width=4, up=one, clear=~cae.cae_stall)
    h.assume(~cae.cae_stall | (one == 0) | (late < ON_THE_WAY), "the_host_heeds_the_stall")

    idle = h.free(1, "idle")
    h.m.d.comb += [
        dut.idle.eq(idle),
        dut.data.valid.eq(h.free(1, "answers")),
        dut.data.payload.eq(h.free(64, "answer")),
    ]
    outputs = (dut.write, dut.read, dut.instruction)
    for number, output in enumerate(outputs):
        h.m.d.comb += output.ready.eq(h.free(1, f"ready_{number}"))
    taken = [h.net(output.valid & output.ready, f"taken_{number}") for number, output in enumerate(outputs)]
    asked = h.flag("asked", set=taken[READ], clear=dut.data.valid)
    h.assume(~dut.data.valid | asked, "answers_only_to_reads")
    h.assume(idle | h.past(~idle, "running") | h.past(taken[INSTRUCTION], "began"), "runs_begin_by_instructions")

    caep = cae.inst_caep
    known = (caep == Instruction.BFS_LEVEL) | (caep == Instruction.INTERSECTION)
    exists = cae.inst_aeg_idx < REGISTERS
    access = cae.inst_aeg_wr | cae.inst_aeg_rd
    sound = h.net(Mux(cae.inst_val, known, access & exists), "sound")
    kind = Mux(cae.inst_val, INSTRUCTION, Mux(cae.inst_aeg_rd, READ, WRITE))[:2]
    index = Mux(cae.inst_val, caep, cae.inst_aeg_idx)[:16]
    popped = h.net(Cat(*taken).any(), "popped")
    commands = part.part("commands")
    watched = watch(h, commands, "commands", pushed=sound, popped=popped, entry=Cat(cae.cae_data, index, kind))
    value, number, which = watched.value[:64], watched.value[64:80], watched.value[80:]
    right = Mux(
        taken[WRITE],
        (which == WRITE) & (Value.cast(dut.write.payload) == Cat(value, number)),
        Mux(
            taken[READ],
            (which == READ) & (dut.read.payload == number),
            (which == INSTRUCTION) & (dut.instruction.payload == number[:5]),
        ),
    )
    h.prove(~watched.leaves | right, "commands_leave_in_order_as_they_came")
    h.prove(~sound | commands.ports.input.ready, "every_command_has_a_place")
    valid = [output.valid for output in outputs]
    h.prove(sum(valid[1:], valid[0]) <= 1, "one_command_leaves_at_a_time")
    h.prove(~Cat(*valid).any() | (idle & ~asked), "commands_leave_while_idle_and_not_during_a_read")
    for stream, name in zip(outputs, ("write", "read", "instruction"), strict=True):
        h.obeys_stream_rules(stream, name)
    h.invariant(which <= INSTRUCTION, "there_are_three_kinds")
    waits = watched.first & idle & ~asked & ~Cat(*valid).any()
    outlast(h, "a_command_waits_at_most_two_cycles_for_nothing", waiting=waits, cycles=2)
    quiet = h.past((watched.held == 0) & ~sound & idle & ~asked, "quiet", init=1)
    h.prove(~cae.cae_idle | quiet, "idle_only_with_nothing_to_do")
    wrong = h.past(Cat(cae.err_unimpl | (cae.inst_val & ~known), access & ~exists), "wrong")
    h.prove(cae.cae_exception == wrong, "what_does_not_exist_is_an_exception")
    answer = h.past(Cat(dut.data.valid, dut.data.payload), "answer")
    h.prove(Cat(cae.cae_ret_data_vld, cae.cae_ret_data) == answer, "every_answer_is_passed_on_once")
    _fill(h, part, commands, held=watched.held, late=late, asked=asked)
    return h


def _fill(h: Harness, part: Part, commands: Part, *, held: Any, late: Any, asked: Any) -> None:
    """Add the invariants about how full the queue of commands is."""
    stall = part.ports.cae.cae_stall
    h.invariant(part.signal("reading") == asked, "what_was_asked_is_awaited")
    h.invariant(~stall | (held <= 9 + late), "what_comes_late_is_counted")
    h.invariant(stall | (held <= 8), "the_queue_is_half_empty_without_a_stall")
    h.invariant(~stall | (late <= ON_THE_WAY), "the_stall_is_heeded")
    fifo = commands.part("fifo")
    inner, ready, valid = fifo.signal("inner_level"), fifo.signal("r_rdy"), commands.ports.output.valid
    h.invariant((inner < 2) | ready, "the_register_is_full_behind_two")
    h.invariant((inner < 3) | valid, "the_output_is_full_behind_three")


PROOFS = (
    Proof(name="convey-memory-port", harness=memory_port),
    Proof(name="convey-dispatch", harness=dispatch),
)
