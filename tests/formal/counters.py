"""Proof about event counters, which count further than any run can show."""

from amaranth.hdl import Cat, Module

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.kernel_control import KernelControl
from cyscc.hw.registers import Counter
from tests.formal.faults import driven, spoiled
from tests.formal.harness import Harness
from tests.formal.proof import Proof


def counters() -> Harness:
    """Return the harness of `KernelControl`, of both kinds of kernel, to which anything may happen."""
    h = Harness()
    exact = []
    for name, kind in {"bfs": BfsKernel, "intersection": IntersectionKernel}.items():
        part = h.add(name, KernelControl(parameters=kind.PARAMETERS, words=kind.WORDS, instrument=True))
        events = part.ports.events
        h.m.d.comb += events.eq(h.free(len(events), f"{name}_events"))
        for counter, event in zip(Counter, h.past(events, f"{name}_events"), strict=True):
            count = part.signal(f"count_{counter.name.lower()}")
            exact.append(h.first | (count == (h.past(count, f"{name}_{count.name}") + event)[: len(count)]))
    h.prove(Cat(*exact).all(), "every_event_counts_one_up_to_the_last_bit")
    return h


def counts_in_fewer_bits(self: KernelControl, m: Module) -> None:
    """Count the first kind of event in three bits."""
    m.d.sync += driven(m, f"count_{next(iter(Counter)).name.lower()}")[3:].eq(0)


PROOFS = (
    Proof(
        name="counters",
        claim="Every event of a kernel is counted exactly once, in 32 bits.",
        harness=counters,
        depth=1,
        broken=spoiled(f"{__name__}.KernelControl", every_event_counts_one_up_to_the_last_bit=counts_in_fewer_bits),
    ),
)
