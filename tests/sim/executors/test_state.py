"""State of executors: saving, restoring, and refusing that of others."""

from dataclasses import replace

import pytest

from cyscc.sim.named_words import NamedWords
from tests.system.runs import made


@pytest.mark.parametrize("executor", ["compiled", "amaranth"])
def test_state_of_other_hardware_is_refused(executor: str) -> None:
    with made("test", "fixed:75", executor=executor) as machine:
        state = machine.save()
        (memory,) = (field for field in state.hardware.fields if field.name == "engine1.bfs0.visitor.fifo.fifo.storage")
        other = NamedWords.zeros([*state.hardware.fields, replace(memory, rows=memory.rows + 1)])
        with pytest.raises(ValueError, match=rf"^{memory.name} has {memory.rows} rows, not {memory.rows + 1}$"):
            machine._executor.load(other)


def test_memory_with_other_allocations_is_refused() -> None:
    with made("test", "fixed:75") as machine:
        state = machine.memory.save()
        machine.allocate(8)
        with pytest.raises(ValueError, match=r"^the memory has other allocations$"):
            machine.memory.load(state)


def test_memory_of_another_size_is_refused() -> None:
    with made("test", "fixed:75") as machine, made("test", "fixed:400") as other:
        with pytest.raises(ValueError, match=r"^the memory's records have other sizes$"):
            other.memory.load(machine.memory.save())


def test_allocations_that_are_left_out() -> None:
    with made("test", "fixed:75") as machine:
        first, second, third = (machine.allocate(size) for size in (100, 2000, 8))
        machine.view(second, "u1", 2000)[:] = 1
        regions = machine.memory.save(without=[second]).regions
        assert [(region.address, region.content.size) for region in regions] == [
            (first, second - first),
            (second + 2000, third + 8 - second - 2000),
        ]
        assert not any(region.content.any() for region in regions)
