"""Tables of the hardware: parameters that are refused, and timing cycle by cycle."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.axi import AxiLimits
from cyscc.hw.bfs.chunk_splitter import ChunkSplitter
from cyscc.hw.bfs.copy_filter import CopyFilter
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.slot_dispenser import SlotDispenser
from cyscc.hw.credits import Credits
from cyscc.hw.exchange.bank_sweeper import BankSweeper
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.or_gate import OrGate
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.queue_reader import QueueReader
from cyscc.hw.request_mux import READ, RequestMux
from cyscc.hw.response_decoder import ResponseDecoder
from cyscc.hw.ring_master import RingMaster
from cyscc.hw.round_robin import RoundRobin
from cyscc.hw.switch.credit_bank import CreditBank
from cyscc.hw.switch.kernel_slice import KernelSlice
from cyscc.hw.switch.link_slice import LinkSlice
from tests.hw.timing import Timing
from tests.hw.timings import TIMINGS

Refused = tuple[Callable[..., Any], str, str, tuple[object, ...], tuple[object, ...]]

_POWER = "a power of two"
_SMALL_POWER = "a power of two from 4 to 64"
_LIMIT = "a power of two from 4 to 512"
_ONE = "at least 1"

# What is made, the parameter, what it must be, values that it is not, and the least and greatest that it is.
PARAMETERS: tuple[Refused, ...] = (
    (AxiLimits, "outstanding_reads", _LIMIT, (0, 2, 5, 1024, True, 8.0), (4, 512)),
    (AxiLimits, "outstanding_writes", _LIMIT, (0, 2, 5, 1024, True, 8.0), (4, 512)),
    (partial(BankSweeper, kernels=2), "rows", "a power of two of at least 2", (0, 1, 3), (2, 8)),
    (ChunkSplitter, "chunk", _ONE, (0,), (1,)),
    (CopyFilter, "depth", "a power of two from 8 on", (0, 4, 12, -8), (8, 64)),
    (partial(CreditBank, depth=4), "fifos", _ONE, (0,), (1,)),
    (partial(CreditBank, fifos=1), "depth", "at least 2", (1,), (2,)),
    (Credits, "depth", _POWER, (0, -4, 3, 12), (1, 16)),
    (ExchangeSlice, "kernels", _POWER, (0, 3), (1, 2)),
    (partial(KernelSlice, link_bits=(3,)), "places", _SMALL_POWER, (2, 6, 128), (4, 64)),
    (partial(LinkSlice, kernels=2, link_bits=(3,)), "depth", _SMALL_POWER, (0, 2, 6, 128), (4, 64)),
    (partial(OrGate, 2), "inputs", "from 1 to 6", (0, 7), (1, 6)),
    (partial(QueueBank, 8, queues=2), "depth", _SMALL_POWER, (0, 2, 12, 128), (4, 64)),
    (partial(QueueBank, 8, depth=4), "queues", _ONE, (0,), (1,)),
    (QueueReader, "stride", _ONE, (0, -1), (1,)),
    (partial(RequestMux, sources=[READ]), "issue_interval", "1 or 2", (0, 3), (1, 2)),
    (ResponseDecoder, "processes", "from 1 to 4", (0, 5), (1, 4)),
    (partial(RingMaster, initial=0), "stages", _ONE, (0, -2), (1,)),
    (RoundRobin, "width", _ONE, (0,), (1,)),
    (partial(SlotAllocator, blocking=False), "depth", _POWER, (0, 3), (1, 4)),
    (SlotDispenser, "depth", _POWER, (0, 3), (1, 4)),
    (partial(VisitedBank, vertices=64), "kernels", _POWER, (0, 3), (1, 2)),
    (partial(VisitedBank, kernels=2), "vertices", _POWER, (0, 48), (1, 64)),
)


@pytest.mark.parametrize(
    ("make", "name", "must_be", "value"),
    [(make, name, must_be, value) for make, name, must_be, wrong, _ in PARAMETERS for value in wrong],
)
def test_a_wrong_parameter_is_refused(make: Callable[..., Any], name: str, must_be: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be {must_be}, not {re.escape(repr(value))}$"):
        make(**{name: value})


@pytest.mark.parametrize(
    ("make", "name", "value"), [(make, name, value) for make, name, _, _, right in PARAMETERS for value in right]
)
def test_the_least_and_the_greatest_are_taken(make: Callable[..., Any], name: str, value: object) -> None:
    assert make(**{name: value})


def test_a_source_of_a_multiplexer_reads_or_writes() -> None:
    with pytest.raises(ValueError, match=r"^a source is 'read' or 'write', not 'flush'$"):
        RequestMux(sources=[READ, "flush"], issue_interval=1)


def test_sizes_are_told() -> None:
    assert Credits(16).depth == 16
    assert QueueBank(8, queues=1, depth=16).capacity == 31
    assert ArbitratedQueues(8, queues=1, depth=16).depth == 16
    assert CreditBank(fifos=1, depth=16).depth == 16
    assert VisitedBank(kernels=2, vertices=2048).rows == 8


@pytest.mark.parametrize("timing", [pytest.param(timing, id=timing.claim) for timing in TIMINGS])
def test_a_component_keeps_its_timing(timing: Timing) -> None:
    timing.check()
