"""States from files: what compiled code would follow out of its arrays is refused before it gets it."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cyscc.sim.machine import Machine
from cyscc.sim.memory.profiles import Hc2
from cyscc.sim.memory.records import context_of
from cyscc.sim.named_words import Field, NamedWords
from cyscc.sim.observation.state import MachineState
from tests.sim.executors.outcomes import CROWD
from tests.system.runs import made, solve

SIDE, _, CONTEXT = (record.dtype for record in context_of(Hc2))
CYCLE = 1500


class StoppedError(Exception):
    """The run has come to the cycle in which its state is wanted."""


@pytest.fixture(scope="module")
def saved() -> MachineState:
    """Return the state of a recorded machine in the middle of a run."""
    states = []
    with made("test", "hc2") as machine:
        machine._executor.record(64, 100)

        def look(cycle: int) -> int:
            if cycle >= CYCLE:
                states.append(deepcopy(machine.save()))  # of the memory it has but a view
                raise StoppedError
            return CYCLE - cycle

        machine.on_sync = look
        with pytest.raises(StoppedError):
            solve(machine, CROWD, slack=500)
    (state,) = states
    return state


@pytest.fixture(scope="module")
def machine(saved: MachineState) -> Iterator[Machine]:
    """Return a machine with the same allocations, on which nothing runs."""
    with made("test", "hc2") as machine:
        for address, size in saved.memory.allocations:
            assert machine.allocate(size) == address
        yield machine


def test_constants_and_links_of_the_memory_keep_their_values(saved: MachineState, machine: Machine) -> None:
    state = deepcopy(saved)
    for number, kind in ((0, CONTEXT), (2, SIDE)):
        records = state.memory.records[number].view(kind)
        for name in ("ports", "every", "batch_depth", "tag_mask", "storage", "mailboxes", "due", "rows", "number"):
            if name in (kind.names or ()) and kind[name].shape == ():
                records[name] = 12345
    machine.load(saved)
    before = machine.memory.save().records
    machine.load(state)
    assert all(map(np.array_equal, before, machine.memory.save().records))


def put(name: str, value: int) -> Callable[[MachineState], object]:
    """Return a function that sets the first word of a register."""
    return lambda state: state.hardware.rows(name).__setitem__((0, 0), np.uint64(value % 2**64))


def put_record(number: int, kind: Any, *path: str, value: int) -> Callable[[MachineState], object]:
    """Return a function that sets a field of the memory's records."""

    def change(state: MachineState) -> None:
        records: Any = state.memory.records[number].view(kind)
        for name in path[:-1]:
            records = records[name]
        records[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("machine.cycle", -5),
        put("machine.cycle", 1 << 60),
        put("engine1.host.position", 1000),
        put("engine0.host.position", -1),
        put("engine0.host.moved", 1 << 62),
        put("engine0.bfs1.begun", 1 << 62),
        put_record(0, CONTEXT, "served", value=7),
        put_record(0, CONTEXT, "top", value=1 << 50),
        put_record(0, CONTEXT, "settled", value=3),
        put_record(0, CONTEXT, "error", "code", value=99),
        put_record(2, SIDE, "far", value=1 << 40),
        put_record(2, SIDE, "cycle", value=-1),
        put_record(2, SIDE, "batches", "count", value=1 << 30),
        put_record(2, SIDE, "batches", "queues", "served", value=1 << 30),
        put_record(2, SIDE, "own", "full", value=1 << 40),
    ],
)
def test_places_out_of_range(change: Callable[[MachineState], object], saved: MachineState, machine: Machine) -> None:
    state = deepcopy(saved)
    change(state)
    with pytest.raises(ValueError, match=r"out of range|impossible"):
        machine.load(state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"commands": []}, "the last command is out of range"),
        ({"commands": [(0, 3, -1), (1, 0, 0)]}, "a command is out of range"),
        ({"commands": [(0, 999, 1), (1, 0, 0)]}, "a command is out of range"),
        ({"commands": [(2, 3, 1)]}, "the last command is out of range"),
        ({"lead": -1}, "lead is out of range"),
        ({"spent": 1 << 62}, "spent is out of range"),
    ],
)
def test_impossible_progress(changes: dict[str, Any], message: str, saved: MachineState, machine: Machine) -> None:
    with pytest.raises(ValueError, match=message):
        machine.load(replace(saved, **changes))


def test_fields_that_are_not_those_of_the_words(saved: MachineState, machine: Machine) -> None:
    words = saved.hardware
    first, *others = words.fields
    for fields, message in (
        ((first, first, *others), "two fields have the same name"),
        (others, "other than"),
        ([replace(first, width=8), *others], "is impossible"),
        ([replace(first, rows=-1), *others], "is impossible"),
        ([Field(name="machine.other", width=64, rows=1, known=0), *others], "machine.cycle is missing"),
    ):
        with pytest.raises(ValueError, match=message):
            machine.load(replace(saved, hardware=NamedWords(fields=tuple(fields), words=words.words)))


def test_records_of_other_sizes(saved: MachineState, machine: Machine) -> None:
    for records in ([], saved.memory.records[:-1], [*saved.memory.records[:-1], np.zeros(3, np.uint64)]):
        with pytest.raises(ValueError, match="other sizes"):
            machine.load(replace(saved, memory=replace(saved.memory, records=records)))
