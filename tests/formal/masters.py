"""Proofs about a module's master and its kernels' stations on the control chain: starts, ends, and event counters."""

from functools import partial
from typing import Any

from amaranth.hdl import Array, Cat
from amaranth.lib.wiring import connect

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.interfaces import ChainOp
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.kernel_control import KernelControl, Phase
from cyscc.hw.module_master import ModuleMaster
from cyscc.hw.registers import Counter, Register
from tests.formal.harness import Harness
from tests.formal.proof import Proof
from tests.formal.slots import total


def counters(*, late: bool) -> Harness:
    """Return the harness of `KernelControl`, of both kinds of kernel, to which anything may happen.

    Parameters
    ----------
    late : bool
        Events are counted a cycle later.
    """
    h = Harness()
    exact = []
    for name, kind in {"bfs": BfsKernel, "intersection": IntersectionKernel}.items():
        part = h.add(
            name, KernelControl(parameters=kind.PARAMETERS, words=kind.WORDS, late_events=late, instrument=True)
        )
        events = part.ports.events
        h.m.d.comb += events.eq(h.free(len(events), f"{name}_events"))
        counted = h.past(events, f"{name}_events")
        if late:
            counted = h.past(counted, f"{name}_events_before")
            h.invariant(part.signal("late_events") == h.past(events, f"{name}_late"), f"{name}_events_are_kept")
        for counter, event in zip(Counter, counted, strict=True):
            count = part.signal(f"count_{counter.name.lower()}")
            exact.append(h.first | (count == (h.past(count, f"{name}_{count.name}") + event)[: len(count)]))
    h.prove(Cat(*exact).all(), "every_event_counts_one_up_to_the_last_bit")
    return h


_COUNTER_PROOFS = tuple(
    Proof(
        name=name,
        claim=f"Every event of a kernel is counted exactly once, in 32 bits{also}.",
        harness=partial(counters, late=late),
        depth=1,
    )
    for name, late, also in (("counters", False, ""), ("late-counters", True, ", a cycle after it happened"))
)


KERNELS = 2
PARAMETERS = (Register.WORDS, Register.CURRENT_COUNT)


def module_master() -> Harness:
    """Return the harness of a master with two kernels' stations; what the kernels find to do, the solver chooses.

    Claim: A module is complete only if every kernel was started in this run and has finished it; kernels get parameters
    and starts only while idle, each start with the kernel's number.
    """
    h = Harness()
    part = h.add("master", ModuleMaster(kernels=KERNELS, parameters=PARAMETERS))
    master = part.ports
    controls = []
    last = master.chain_out
    for number in range(KERNELS):
        control = h.add(f"control{number}", KernelControl(parameters=PARAMETERS, words={}, instrument=False))
        connect(h.m, last, control.ports.chain_in)
        h.m.d.comb += [
            control.ports.idle.eq(h.free(1, f"kernel{number}_idle")),
            control.ports.flushed.eq(h.free(1, f"kernel{number}_flushed")),
            master.done[number].eq(control.ports.done),
        ]
        last = control.ports.chain_out
        controls.append(control)
    connect(h.m, last, master.chain_in)
    begin = h.free(1, "begin")
    question = h.free(7, "question")
    engine = h.constant(2, "engine")
    given = Array(h.constant(48, f"given{parameter.value}") for parameter in PARAMETERS)
    asked = h.past(master.parameter == PARAMETERS[1], "second_asked")
    h.m.d.comb += [
        master.begin.eq(begin),
        master.engine.eq(engine),
        master.value.eq(given[asked]),
        master.question.valid.eq(h.free(1, "question_valid")),
        master.question.payload.eq(question),
    ]
    begins = h.net(begin & part.state("IDLE"), "begins")
    starts = [chain.valid & (chain.payload.op == ChainOp.START) for chain in _chain(master, controls)]
    flying = total(starts)
    h.invariant(flying == part.state("ECHO"), "a_start_is_on_the_chain_only_while_it_is_awaited")
    for place, chain in enumerate(_chain(master, controls)):
        numbered = chain.payload.value == engine * KERNELS + place
        h.invariant(~starts[place] | numbered, f"start_at_{place}_has_its_number")
        write = chain.valid & (chain.payload.op == ChainOp.WRITE)
        writing = Cat(*(part.state(state) for state in ("PARAMETERS", "LAST", "START"))).any()
        h.invariant(~write | writing | Cat(*starts[:place]).any(), f"write_at_{place}_is_before_the_start")
    h.invariant(
        ~part.signal("fetched") | part.state("PARAMETERS") | part.state("LAST"), "values_are_fetched_before_the_start"
    )
    before = h.net(
        Cat(*(part.state(state) for state in ("IDLE", "PARAMETERS", "LAST", "START"))).any(), "before_the_start"
    )
    after = h.net(part.state("SETTLE") | part.state("RUN"), "after_the_start")
    h.prove(~master.launch | starts[0], "launches_with_the_start")
    finished = []
    for number, control in enumerate(controls):
        ports, name = control.ports, f"kernel{number}"
        phase, second = control.signal("phase"), control.signal("begin")
        started = h.flag(f"{name}_started", set=ports.start, clear=begins)
        quiet = h.net(~ports.busy & ~ports.start & ~second, f"{name}_quiet")
        message = ports.chain_in
        orders = message.valid & ((message.payload.op == ChainOp.START) | (message.payload.op == ChainOp.WRITE))
        h.prove(~orders | quiet, f"{name}_is_set_and_started_only_while_idle")
        h.prove(~ports.start | (ports.number == engine * KERNELS + number), f"{name}_has_its_number")
        finished.append(started & ports.done)
        passed = Cat(*starts[number + 1 :]).any()
        h.invariant(~passed | started | ports.start, f"{name}_was_started_by_what_has_passed")
        h.invariant(~Cat(*starts[: number + 1]).any() | quiet, f"{name}_is_quiet_until_the_start_comes")
        h.invariant(~after | started, f"{name}_was_started_before_it_is_awaited")
        h.invariant(ports.start == starts[number + 1], f"{name}_starts_as_the_message_leaves")
        h.invariant(~before | quiet, f"{name}_is_quiet_before_the_start")
        h.invariant(~ports.done | (phase == Phase.IDLE), f"{name}_is_idle_when_done")
        h.invariant(~(ports.done & second), f"{name}_is_not_done_as_it_begins")
        h.invariant(~(second | ports.start) | (phase == Phase.IDLE), f"{name}_starts_from_idle")
        h.invariant(~(second & ports.start), f"{name}_starts_once")
        h.invariant(~second | ~part.state("RUN"), f"{name}_has_begun_before_the_master_looks")
    h.prove(~master.complete | Cat(*finished).all(), "complete_only_if_every_kernel_has_finished_this_run")
    h.invariant(~master.complete | part.state("IDLE"), "complete_is_idle")
    return h


def _chain(master: Any, controls: Any) -> list[Any]:
    """Return the registers of the control chain, from the master's on."""
    return [master.chain_out, *(control.ports.chain_out for control in controls)]


PROOFS = (
    *_COUNTER_PROOFS,
    Proof(name="module-master", harness=module_master, depth=1),
)
