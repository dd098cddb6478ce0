"""Diagnosis of a machine that hangs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from cyscc.hw.bfs.kernel import BfsCredits, BfsReservation, BfsState
from cyscc.hw.config import PRESETS
from cyscc.hw.intersection.kernel import IntersectionCredits, IntersectionState
from cyscc.hw.registers import KernelWord, Register, kernel_register
from cyscc.sim.memory import Memory, parse_profile
from cyscc.sim.observation.diagnosis import diagnose

CONFIG = PRESETS["hc2"]
Registers = dict[int, int]


def diagnosis(registers: Registers, *, mute: frozenset[int] = frozenset()) -> list[str]:
    """Diagnose engines whose registers all hold this, or zero, and do not answer for those in `mute`."""

    def read(numbers: list[int]) -> npt.NDArray[np.uint64] | None:
        if mute & set(numbers):
            return None
        return np.array([[registers.get(number, 0)] * CONFIG.engines for number in numbers], np.uint64)

    memory = Memory(parse_profile("hc2"), engines=CONFIG.engines, ports=CONFIG.ports, capacity=1 << 20)
    return diagnose(CONFIG, memory, read).splitlines()


def test_dead_interface() -> None:
    assert diagnosis({}, mute=frozenset([Register.STATUS])) == ["the register interface does not answer"]


def test_all_kernels_done() -> None:
    engines = [f"engine {number}: busy, 1,234 cycles since its dispatch" for number in range(4)]
    assert diagnosis({Register.STATUS: 1, Register.CYCLES: 1234}) == [
        *engines,
        "every kernel is done: the token or an engine's master is awaited",
    ]


def test_status_of_an_idle_engine_with_an_error() -> None:
    assert diagnosis({Register.STATUS: 6, Register.CYCLES: 9})[0] == "engine 0: idle, 9 cycles since its dispatch"


def test_states_are_told_by_field() -> None:
    bfs, intersection = (kernel_register(kernel, 0) for kernel in (5, CONFIG.bfs_kernels + 7))
    lines = diagnosis(
        {
            bfs + KernelWord.STATE: BfsState.const({"started": 1, "slot_awaited": 1, "visits": 61}).as_bits(),
            bfs + KernelWord.CREDITS: BfsCredits.const({"frontier": 64, "neighbours": 5, "words": 128}).as_bits(),
            bfs + KernelWord.RESERVATION: BfsReservation.const({"demanded": 17, "reserved": 3}).as_bits(),
            intersection + KernelWord.STATE: IntersectionState.const({"started": 1, "write_stalled": 1}).as_bits(),
            intersection + KernelWord.CREDITS: IntersectionCredits.const({"colours": 100, "unvisits": 2}).as_bits(),
        }
    )
    assert [line for line in lines if line.startswith("engine 3 ")] == [
        "engine 3 bfs kernel 5: state done=0 started=1 frontier_idle=0 neighbours_idle=0 words_idle=0 visitor_idle=0 "
        "slots_idle=0 requests_idle=0 error=0 read_stalled=0 write_stalled=0 slot_awaited=1 visits=61; "
        "credits frontier=64 neighbours=5 words=128; reservation demanded=17 reserved=3",
        "engine 3 intersection kernel 7: state done=0 started=1 entries_idle=0 colours_idle=0 classifier_idle=0 "
        "requests_idle=0 read_stalled=0 write_stalled=1; credits entries=0 colours=100 unvisits=2",
    ]


def test_many_kernels_are_counted_not_listed() -> None:
    started = BfsState.const({"started": 1}).as_bits()
    lines = diagnosis({kernel_register(kernel, KernelWord.STATE): started for kernel in range(16)})
    assert sum(" bfs kernel " in line for line in lines) == 12
    assert lines[-1] == "and 52 kernels more"


def test_chain_that_does_not_answer() -> None:
    lines = diagnosis({}, mute=frozenset([kernel_register(16, KernelWord.STATE)]))
    assert "intersection kernel 0: the control chain does not answer" in lines


def test_reads_that_are_outstanding_are_told() -> None:
    def read(numbers: list[int]) -> npt.NDArray[np.uint64]:
        return np.zeros((len(numbers), CONFIG.engines), np.uint64)

    memory: Any = SimpleNamespace(outstanding=lambda: [(number % 4, number, number) for number in range(1, 11)])
    lines = diagnose(CONFIG, memory, read).splitlines()
    assert lines[-9:] == [
        "every kernel is done: the token or an engine's master is awaited",
        "engine 1 port 1: 1 read outstanding",
        *(f"engine {number % 4} port {number}: {number} reads outstanding" for number in range(2, 9)),
    ]
