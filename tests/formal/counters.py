"""Proof about event counters, which count further than any run can show."""

from functools import partial

from amaranth.hdl import Cat

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.kernel_control import KernelControl
from cyscc.hw.registers import Counter
from tests.formal.harness import Harness
from tests.formal.proof import Proof


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


PROOFS = tuple(
    Proof(
        name=name,
        claim=f"Every event of a kernel is counted exactly once, in 32 bits{also}.",
        harness=partial(counters, late=late),
        depth=1,
    )
    for name, late, also in (("counters", False, ""), ("late-counters", True, ", a cycle after it happened"))
)
