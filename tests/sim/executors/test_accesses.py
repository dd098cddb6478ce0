"""The log of accesses at the ports of kernels: that of the memory, whatever the threads and wherever it begins."""

from copy import deepcopy

import numpy as np
import numpy.typing as npt
import pytest

from cyscc.hw.config import PRESETS
from cyscc.sim.coprocessor import Instruction, Register
from cyscc.sim.executors.accesses import DROP, NEVER, READ, WRITE, AccessRequest, WatchedAccesses
from cyscc.sim.hardware import START
from cyscc.sim.machine import Machine
from cyscc.sim.memory import WatchedRange
from cyscc.sim.observation.state import MachineState
from tests.system.covering import COVERING
from tests.system.runs import made
from tests.words import graph_word

MACHINES = {
    "test": PRESETS["test"],
    "switch": next(each for each in COVERING.values() if each.link_queues == 4 and not each.pair_reads),
}
ALL = AccessRequest(watched=[WatchedAccesses(start=0, end=NEVER, kinds=[READ, WRITE, DROP])])
OF = ["cycle", "engine", "kernel", "kind", "tag", "address", "size", "data", "answered"]
SOURCES, EACH = 8, 6
"""Entries of the level, and neighbours of each."""


def dispatch(machine: Machine, *, capacity: int) -> None:
    """Dispatch a level in which every kernel has many reads under way."""
    count = SOURCES * (1 + EACH)
    words = [graph_word(EACH * n, EACH, True) for n in range(SOURCES)]
    words += [graph_word(SOURCES * EACH, 0, False)] * (count - SOURCES)
    places = [machine.allocate(size) for size in (8 * count, 4 * count, 8 * SOURCES, 8 * count, 8 * count)]
    machine.write(places[0], np.array(words, np.uint64))
    machine.write(places[1], np.arange(SOURCES, count, dtype=np.uint32))
    machine.write(places[2], np.array(words[:SOURCES], np.uint64))
    registers = ("WORDS", "NEIGHBOURS", "CURRENT_QUEUE", "NEXT_QUEUE", "REACH_QUEUE")
    machine.set_registers(
        {
            **{Register[name]: place for name, place in zip(registers, places, strict=True)},
            Register.CURRENT_COUNT: SOURCES,
            Register.CAPACITY: capacity,
        }
    )
    machine.dispatch(Instruction.BFS_LEVEL)


def run(
    name: str,
    *,
    state: MachineState | None = None,
    save: int = NEVER,
    request: AccessRequest = ALL,
    capacity: int = 100,
    **options: int,
) -> tuple[npt.NDArray[np.void], list[MachineState], npt.NDArray[np.void]]:
    """Return the accesses of a level, or of what follows a state; the state at a cycle; and the memory's own log."""
    states: list[MachineState] = []
    with made(MACHINES[name], "hc2", **options) as machine:
        dispatch(machine, capacity=capacity)
        log = machine.memory.log_accesses(span=10_000)
        log.choose([WatchedRange(start=0, end=NEVER)])
        machine.executor.log_accesses(request)
        if state is not None:
            machine.load(state)

        def look(cycle: int) -> int:
            if cycle >= save and not states:
                states.append(deepcopy(machine.save()))
            return max(save - cycle, 1) if not states else 10_000

        machine.on_sync = look
        machine.wait()
        assert machine.executor.open_reads() == 0
        rows = machine.executor.take_accesses()
        assert not len(machine.executor.take_accesses())
        return np.sort(rows, order=OF), states, log.take()


@pytest.mark.parametrize("name", MACHINES)
def test_a_log_goes_on_in_the_middle_of_a_level(name: str) -> None:
    whole, _, _ = run(name)
    assert (whole["kind"] == READ).sum() == SOURCES * (1 + 2 * EACH)
    assert (whole["kind"] == WRITE).sum() == SOURCES * EACH * 3
    for save in range(60, 400, 40):
        rows, (state,), _ = run(name, save=save, threads=2)
        assert np.array_equal(rows, whole)
        begin = state.hardware.signed("machine.cycle")
        later, _, _ = run(name, state=state)
        assert np.array_equal(later[OF], whole[OF][whole["cycle"] >= begin])


def test_they_are_those_of_the_memory() -> None:
    whole, _, own = run("test")
    names = ["cycle", "engine", "address", "size", "data"]
    for kind, written in ((READ, False), (WRITE, True)):
        found, logged = whole[whole["kind"] == kind], own[own["write"] == written]
        columns = [*names, *(() if written else ("tag", "answered"))]
        for of, name in ((found, "kernel"), (logged, "port")):
            assert len(of) > 40
            of.sort(order=[*columns, name])
        assert np.array_equal(found["kernel"], logged["port"])
        assert all(np.array_equal(found[column], logged[column]) for column in columns)
    reads = whole[whole["kind"] == READ]
    for key in {tuple(row) for row in reads[["engine", "kernel", "tag"]].tolist()}:
        own = np.array([tuple(row) == key for row in reads[["engine", "kernel", "tag"]].tolist()])
        assert sorted(reads["number"][own].tolist()) == list(range(own.sum()))


def test_what_is_watched() -> None:
    whole, _, _ = run("test")
    queue = whole["address"][(whole["kind"] == READ) & (whole["tag"] == 0)]
    first, end = int(queue.min()), int(queue.max()) + 8
    limits = (("mask", int(START.mask)), ("low", EACH * 3), ("high", EACH * 4))
    watched = [
        WatchedAccesses(start=first, end=end, kinds=[READ], **{name: int(START.put(at)) for name, at in limits}),
        WatchedAccesses(start=0, end=NEVER, kinds=[WRITE]),
    ]
    last = int(whole["cycle"][whole["kind"] == WRITE].max()) - 20
    rows, _, _ = run("test", request=AccessRequest(watched=watched, first=50, end=last))
    entries = np.isin(whole["address"], queue) & (whole["kind"] == READ)
    entries &= np.isin(START.get(whole["data"]), (EACH * 3, EACH * 4))
    expected = whole[(entries | (whole["kind"] == WRITE)) & (whole["cycle"] >= 50) & (whole["cycle"] < last)]
    assert entries.sum() == 2
    assert np.array_equal(rows, expected)


def test_the_first_vertex_that_a_kernel_drops() -> None:
    rows, _, _ = run("test", capacity=5)
    drops = rows[rows["kind"] == DROP]
    assert 0 < len(drops) <= 4
    assert len(set(zip(drops["engine"], drops["kernel"], strict=True))) == len(drops)
    pushed = rows[(rows["kind"] == WRITE) & (rows["size"] == 4)]
    assert len(pushed) == 5
    assert not (run("test")[0]["kind"] == DROP).any()
