"""Accesses that the memory refuses."""

from typing import Any

import numpy as np
import pytest

from cyscc.sim.memory import FLUSH, READ, WRITE, Hc2, Memory, PayloadLayout, Profile, parse_profile
from cyscc.sim.memory.crossbar import make_calendars
from tests.sim.memory.stepper import Request, Stepper, flush, machine, read, write


def bench(profile: str | Profile = "fixed:5", *, engines: int = 3, ports: int = 6) -> Stepper:
    return Stepper(machine(profile, engines=engines, ports=ports, size=100))


@pytest.mark.parametrize(("address", "size"), [(4096, 8), (4096, 4), (4196 - 4, 4), (4184, 8)])
def test_accesses_at_the_edges_are_allowed(address: int, size: int) -> None:
    drive = bench()
    drive.step([read(0, address, size=size), write(1, address, 1, size=size)])
    assert drive.code == 0
    assert drive.memory.error() is None


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (read(1, 4092, size=4), "read of 4 bytes at address 0xffc (engine 1 port 1 cycle 3): outside"),
        (read(1, 0), "read of 8 bytes at address 0x0 (engine 1 port 1 cycle 3): outside"),
        (read(2, 4196, size=4), "read of 4 bytes at address 0x1064 (engine 1 port 2 cycle 3): outside"),
        (read(2, 4192), "read of 8 bytes at address 0x1060 (engine 1 port 2 cycle 3): outside"),
        (write(0, 4192, 1), "write of 8 bytes at address 0x1060 (engine 1 port 0 cycle 3): outside"),
        (write(0, 2**48 - 8, 1), "write of 8 bytes at address 0xfffffffffff8 (engine 1 port 0 cycle 3): outside"),
    ],
)
@pytest.mark.parametrize("profile", ["hc2", "fixed:5", "stress"])
def test_access_outside(request_: Request, text: str, profile: str) -> None:
    drive = bench(profile)
    drive.run(3)
    drive.step([request_], ae=1)
    assert drive.code != 0
    assert drive.memory.error() == f"memory: {text} the allocated range 4096 to 4196"


@pytest.mark.parametrize(("address", "size"), [(4100, 8), (4097, 4), (4098, 4), (4099, 4), (4103, 8)])
def test_access_not_aligned(address: int, size: int) -> None:
    drive = bench()
    drive.step([read(0, address, size=size)])
    expected = (
        f"memory: read of {size} bytes at address {address:#x} (engine 0 port 0 cycle 0): not aligned to its size"
    )
    assert drive.memory.error() == expected


def test_bad_read_answers_zero_and_bad_write_is_dropped() -> None:
    drive = bench()
    drive.memory.view(4096, np.uint8, 100)[:] = 0xFF
    drive.step([read(0, 4097), write(1, 4097, 0)])
    assert drive.run(10)[0][1].responses == {0: (0, 0)}
    assert np.all(drive.memory.read(4096, np.uint8, 100) == 0xFF)


def test_first_error_stays() -> None:
    drive = bench()
    drive.step([read(0, 0)])
    before = drive.memory.error()
    drive.step([read(0, 8)])
    assert drive.memory.error() == before
    assert drive.code != 0


def test_request_without_ready() -> None:
    drive = bench(Hc2(reads_in_flight=1))
    drive.step([read(2, 4096)])
    drive.step([read(2, 4096)])
    assert drive.memory.error() == "memory: read (engine 0 port 2 cycle 1): the port was not ready for a read"


@pytest.mark.parametrize("mask", [1 << 6, 1 << 6 | 1, 1 << 62, 2**64 - 1])
@pytest.mark.parametrize("kind", ["read", "write", "flush"])
def test_mask_beyond_the_ports(kind: str, mask: int) -> None:
    drive = bench()
    drive.memory.mailboxes["requests"][1, {"read": READ, "write": WRITE, "flush": FLUSH}[kind]] = mask
    drive.step()
    place = "(engine 1 cycle 0)"
    assert drive.memory.error() == f"memory: mask {mask:#x} of {kind} requests {place}: not a mask of 6 ports"


@pytest.mark.parametrize(("engines", "ports"), [(1, 1), (3, 6)])
def test_masks_of_all_ports_are_allowed(engines: int, ports: int) -> None:
    drive = bench(engines=engines, ports=ports)
    drive.step([request for port in range(ports) for request in (read(port, 4096), write(port, 4096, 0), flush(port))])
    assert drive.memory.error() is None


@pytest.mark.parametrize(("flushes", "refused"), [(64, False), (65, True)])
def test_flushes_waiting_are_limited(flushes: int, refused: bool) -> None:
    drive = bench(Hc2(flush_travel=1000))
    for _ in range(flushes):
        drive.step([flush(0)])
    cause = "memory: flush (engine 0 port 0 cycle 64): more than 64 of kind flush waiting on the port"
    assert drive.memory.error() == (cause if refused else None)


def test_mailboxes_start_at_cache_lines() -> None:
    memory = bench().memory
    assert [memory.mailboxes[ae:].ctypes.data % 64 for ae in range(3)] == [0] * 3


def test_payload_layout_of_ones_own() -> None:
    layout = PayloadLayout(address_bits=40, size_bit=63, tag_shift=40, tag_bits=3)
    memory = Memory(parse_profile("fixed:2"), engines=1, ports=1, capacity=1 << 20, payload=layout)
    memory.write(memory.allocate(8), np.array([9], np.uint64))
    drive = Stepper(memory)
    drive.step([(0, 0, 1 << 63 | 5 << 40 | 0x7F << 43 | 4096, 0)])
    assert [view.responses for _, view in drive.run(5)] == [{0: (5, 9)}]


def shorter(*arguments: Any, horizon: int, **options: Any) -> None:
    """Make calendars of 128 cycles; profiles make theirs long enough for all that can be in flight."""
    make_calendars(*arguments, horizon=0 * horizon, **options)


@pytest.mark.parametrize("kind", ["read", "write"])
def test_ways_there_that_are_reserved_too_far_ahead(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.sim.memory.profiles.ports.make_calendars", shorter)
    drive = bench(Hc2(bank_busy=1, port_queue=4000), engines=4, ports=16)
    for _ in range(9):
        assert drive.memory.error() is None
        drive.step([read(port, 4096) if kind == "read" else write(port, 4096, 1) for port in range(16)], ae=1)
    # Sixteen a cycle for one link, which takes one; the port that comes first moves on.
    expected = f"memory: {kind} (engine 1 port 8 cycle 8): its way is reserved further ahead than the profile has room"
    assert drive.memory.error() == f"{expected} for"


def test_a_way_back_that_is_reserved_too_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.sim.memory.profiles.hc2.make_calendars", shorter)
    drive = bench(Hc2(bank_busy=60), engines=4, ports=16)
    drive.run(3)
    drive.step([read(5, 4096), write(7, 4096, 1)], ae=1)
    assert drive.memory.error() is None
    drive.step([read(6, 4096), write(4, 4096, 1)], ae=1)
    expected = "memory: read (engine 1 port 6 cycle 4): its way is reserved further ahead than the profile has room for"
    assert drive.memory.error() == expected
