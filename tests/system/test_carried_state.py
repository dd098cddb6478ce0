"""The whole state by name, cut in the middle of levels: the same on both executors, and either goes on from it."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pytest

from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.machine import Machine
from cyscc.sim.named_words import NamedWords
from cyscc.sim.observation.state import MachineState
from tests.sim.executors.outcomes import CROWD
from tests.system.runs import made, search

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "blocking_reservation": {"blocking_reservation": True},
    "queued_requests": {"queued_requests": 4},
    "bfs_only": {"bfs_only": True},
    "remembered_ids": {"remembered_ids": 32},
    "pair_reads": {"pair_reads": True},
    "lean_visits": {"lean_visits": True},
    "link_queues": {"link_queues": 4, "memory_ports": 4},
    "visited_filter": {"visited_filter": 64},
    "edge_chunk": {"edge_chunk": 4},
    "short_ring": {"short_ring": True},
}
"""Options that are off by default, each enabled alone; a switch also sets the number of memory ports."""

MACHINES = {name: PRESETS["test"].replace(**options) for name, options in OPTIONS.items()} | PRESETS

SMALL = ("test", "fast-test", *OPTIONS)
"""Machines that both executors simulate in seconds."""

UNREAD = ("shell.dispatch.index", "shell.dispatch.registers.host_port__data")
"""Registers that depend on invalid payloads of the host, which a machine keeps from its last commands."""

INTO_LEVEL = 60
"""Cycles from the begin of a level to the cut: the FIFOs are filled, and requests are in flight."""


@dataclass
class Levels:
    """What the levels of a search leave, and the states in the middle of them."""

    cuts: list[MachineState] = field(default_factory=list)
    ends: list[tuple[int, int, bytes, NamedWords]] = field(default_factory=list)


def end_of(machine: Machine, cycles: int) -> tuple[int, int, bytes, NamedWords]:
    """Return what the end of a level shows: its cycles, the machine's, the memory, and the registers by name."""
    memory = machine.read(4096, np.uint8, machine.memory.allocated).tobytes()
    return cycles, machine.cycle, memory, machine.executor.save()


def searched(machine: Machine) -> Levels:
    """Search a graph, and keep the state in the middle of each level."""
    levels = Levels()
    wait = machine.wait

    def look(cycle: int) -> int:
        due = machine._began + machine._lead + INTO_LEVEL
        if cycle >= due and len(levels.cuts) == len(levels.ends):
            levels.cuts.append(deepcopy(machine.save()))  # of the memory it has but a view
        return max(due - cycle, 1) if cycle < due else 1000

    def kept() -> int:
        cycles = wait()
        levels.ends.append(end_of(machine, cycles))
        return cycles

    machine.on_sync = look
    machine.wait = kept  # type: ignore[method-assign]
    search(machine, CROWD, 0, slack=500)
    machine.on_sync = None
    machine.wait = wait  # type: ignore[method-assign]
    return levels


def differences(first: NamedWords, second: NamedWords) -> Iterator[str]:
    """Yield the names of what differs between two states, as far as both know it."""
    for name in first.places.keys() & second.places.keys():
        known = first.places[name][1].known & second.places[name][1].known
        if any((a ^ b) & known for a, b in zip(first.values(name), second.values(name), strict=True)):
            yield name


def check_ends(first: Sequence[Any], second: Sequence[Any]) -> None:
    """Check that levels end with the same."""
    *numbers, state = first
    *others, other = second
    assert numbers == others
    assert [name for name in differences(state, other) if not name.endswith(UNREAD)] == []


def test_every_option_is_there() -> None:
    off = {each.name for each in fields(AcceleratorConfig) if not each.default}
    assert {name for options in OPTIONS.values() for name in options} == off


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SMALL else pytest.mark.long) for name in MACHINES]
)
def test_state_is_the_same_on_both_executors_and_either_goes_on(name: str) -> None:
    with made(MACHINES[name], "fixed:9") as first, made(MACHINES[name], "fixed:9", executor="amaranth") as second:
        compiled, amaranth = searched(first), searched(second)
        assert len(compiled.cuts) == len(compiled.ends) >= 3
        for ours, theirs in zip(compiled.cuts, amaranth.cuts, strict=True):
            derived = ours.hardware.places.keys() - theirs.hardware.places.keys()
            assert all(name.endswith(".quiescent") for name in derived)
            assert list(differences(ours.hardware, theirs.hardware)) == []
            assert len(theirs.hardware.places) > 400
            assert ours.commands == theirs.commands
        for state, expected in zip(compiled.cuts, compiled.ends, strict=True):
            second.load(state)
            check_ends(end_of(second, second.wait()), expected)
        # What only the compiled executor has is as after reset, so each state needs a machine of its own.
        for state, expected in zip(amaranth.cuts, compiled.ends, strict=True):
            with made(MACHINES[name], "fixed:9") as machine:
                for _, size in first.memory.allocations:
                    machine.allocate(size)
                machine.load(state)
                check_ends(end_of(machine, machine.wait()), expected)
