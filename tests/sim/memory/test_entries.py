"""The functions for compiled engines are those for Python."""

import ctypes

import numpy as np

from sim.memory import Memory, mailbox_layout, next_event, parse_profile
from tests.sim.memory.stepper import Stepper, hand_over, read, write

WORD = ctypes.c_int64


def test_c_functions_do_the_same() -> None:
    expected = Memory(parse_profile("hc2"), engines=1, ports=2, capacity=1 << 20)
    bench = Stepper(expected)
    actual = Memory(parse_profile("hc2"), engines=1, ports=2, capacity=1 << 20)
    for memory in (expected, actual):
        memory.write(memory.allocate(64), np.arange(8, dtype=np.uint64))
    addresses = actual.addresses()
    context = ctypes.c_void_p(actual.context.ctypes.data)
    prepare = ctypes.CFUNCTYPE(None, ctypes.c_void_p, WORD, WORD)(addresses["prepare"])
    accept = ctypes.CFUNCTYPE(None, ctypes.c_void_p, WORD, WORD)(addresses["accept"])
    settle = ctypes.CFUNCTYPE(WORD, ctypes.c_void_p, WORD)(addresses["settle"])
    following = ctypes.CFUNCTYPE(WORD, ctypes.c_void_p, WORD, WORD)(addresses["next_event"])
    layout = mailbox_layout(2)
    for cycle in range(100):
        plan = [read(0, 4096 + 8 * cycle), write(1, 4096 + 8 * cycle, -cycle)] if cycle < 8 else []
        prepare(context, 0, cycle)
        seen = actual.mailbox[0, : layout.read_payloads].tolist()
        hand_over(actual.mailbox[0], layout, plan)
        accept(context, 0, cycle)
        assert not actual.mailbox[0, layout.reads : layout.flushes + 1].any()
        assert settle(context, cycle) == 0
        bench.step(plan)
        assert seen == expected.mailbox[0, : layout.read_payloads].tolist()
        assert following(context, 0, cycle + 1) == next_event(expected.context, 0, cycle + 1)
    assert actual.read(4096, np.int64, 8).tolist() == [0, -1, -2, -3, -4, -5, -6, -7]
    assert actual.statistics() == expected.statistics()


def test_error_code_is_returned_to_c() -> None:
    memory = Memory(parse_profile("fixed:2"), engines=1, ports=1, capacity=8192)
    Stepper(memory).step([read(0, 0)])
    settle = ctypes.CFUNCTYPE(WORD, ctypes.c_void_p, WORD)(memory.addresses()["settle"])
    assert settle(memory.context.ctypes.data, 1) != 0
