"""Allocation and host access."""

import mmap
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cyscc.sim.memory import Memory, parse_profile
from cyscc.sim.memory.storage import Storage


def small() -> Memory:
    return Memory(parse_profile("hc2"), engines=1, ports=1, capacity=1 << 20)


def test_default_capacity_is_large_and_untouched() -> None:
    memory = Memory(parse_profile("hc2"), engines=1, ports=1)
    assert memory.capacity >= 1 << 30
    assert memory.allocated == 0


@pytest.mark.skipif(
    Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2", reason="this system promises no memory twice"
)
def test_untouched_capacity_is_not_reserved_again_for_processes_that_are_started() -> None:
    memories = [Storage() for _ in range(4)]
    # A function to call before makes it a fork, which asks for all that this process has reserved.
    ended = subprocess.run(["true"], check=False, preexec_fn=lambda: None)
    assert ended.returncode == 0
    assert len({memory.address for memory in memories}) == 4


def test_capacity_is_halved_until_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    granted = mmap.mmap

    def stingy(number: int, length: int, **options: Any) -> mmap.mmap:
        if length > 40 << 20:
            raise OSError(12, "Cannot allocate memory")
        return granted(number, length, **options)

    monkeypatch.setattr("cyscc.sim.memory.storage.mmap.mmap", stingy)
    assert Storage(100 << 20).capacity == 25 << 20


def test_capacity_refused_altogether(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(number: int, length: int, **options: Any) -> mmap.mmap:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("cyscc.sim.memory.storage.mmap.mmap", none)
    with pytest.raises(MemoryError) as caught:
        Storage(64 << 20)
    assert str(caught.value) == "the system refuses 16777216 bytes of memory: [Errno 12] Cannot allocate memory"


def test_allocations_start_at_4096_are_aligned_and_apart() -> None:
    memory = small()
    first = memory.allocate(1000)
    second = memory.allocate(8, 4096)
    third = memory.allocate(8)
    assert first == 4096
    assert second % 4096 == 0
    assert third % 512 == 0
    assert second >= first + 1000 + 512
    assert third >= second + 8 + 512


def test_allocation_up_to_the_last_byte() -> None:
    assert small().allocate((1 << 20) - 4096) == 4096
    with pytest.raises(MemoryError) as caught:
        small().allocate((1 << 20) - 4095)
    assert str(caught.value) == "cannot allocate 1044481 bytes: 1044480 of 1048576 bytes are left"


@pytest.mark.parametrize(
    ("size", "alignment", "message"),
    [
        (0, 8, "allocation size must be at least 1 byte, not 0"),
        (8, 4, "allocation alignment must be a power of two from 8 on, not 4"),
        (8, 24, "allocation alignment must be a power of two from 8 on, not 24"),
    ],
)
def test_impossible_allocation(size: int, alignment: int, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        small().allocate(size, alignment)
    assert str(caught.value) == message


def test_values_come_back_and_views_write_through() -> None:
    memory = small()
    address = memory.allocate(64)
    memory.write(address, np.array([1, 2**32 - 1], np.uint32))
    assert memory.read(address, np.uint64, 1).tolist() == [(2**32 - 1) << 32 | 1]
    copy = memory.read(address, np.uint32, 2)
    memory.view(address, np.uint32, 2)[0] = 9
    assert copy.tolist() == [1, 2**32 - 1]
    assert memory.read(address, np.uint8, 4).tolist() == [9, 0, 0, 0]


def test_view_ends_with_the_allocated_range() -> None:
    memory = small()
    address = memory.allocate(16)
    assert memory.view(address, np.uint64, 2).size == 2
    for start, count in ((address, 3), (address - 8, 1), (address, -1)):
        with pytest.raises(ValueError, match=r"^bytes \d+ to \d+ are outside the allocated range 4096 to 4112$"):
            memory.view(start, np.uint64, count)
    with pytest.raises(ValueError, match=r"^address 4100 is not a multiple of the 8 bytes of uint64$"):
        memory.view(address + 4, np.uint64, 1)


def test_stray_writes_are_found() -> None:
    memory = small()
    first, second = memory.allocate(1000), memory.allocate(8)
    memory.view(4096, np.uint8, 1000)[:] = 255
    memory.write(second, np.array([5], np.uint64))
    assert memory.stray_writes() == []
    memory.write(first + 1000, np.array([1], np.uint32))
    assert memory.stray_writes() == [first + 1000]


def test_stray_writes_are_found_to_the_byte_before_and_behind_all_allocations_too() -> None:
    storage = Storage(1 << 20)
    contents = storage.words.view(np.uint8)
    assert storage.allocations == []
    for size in (1001, 6):
        storage.allocate(size)
    assert storage.allocations == [(4096, 1001), (5632, 6)]
    contents[4096:5097] = contents[5632:5638] = 1
    assert storage.stray_writes() == []
    places = [0, 4095, 5097, 5098, 5631, 5638, 5638 + 511]
    contents[places] = 1
    assert storage.stray_writes() == [0, 4092, 5096, 5628, 5636, 6148]


def test_nothing_lies_behind_an_allocation_up_to_the_end() -> None:
    storage = Storage(1 << 20)
    storage.allocate((1 << 20) - 4096)
    assert storage.stray_writes() == []


@pytest.mark.parametrize(
    ("engines", "ports", "capacity", "message"),
    [
        (0, 1, 8192, "engines must be from 1 to 4, not 0"),
        (5, 1, 8192, "engines must be from 1 to 4, not 5"),
        (1, 0, 8192, "ports must be from 1 to 32, not 0"),
        (1, 33, 8192, "ports must be from 1 to 32, not 33"),
        (1, 1, 8191, "memory capacity must be at least 8192 bytes, not 8191"),
    ],
)
def test_impossible_memory(engines: int, ports: int, capacity: int, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        Memory(parse_profile("hc2"), engines=engines, ports=ports, capacity=capacity)
    assert str(caught.value) == message
