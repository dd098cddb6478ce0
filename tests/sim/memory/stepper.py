"""One engine's testbench in plain Python: a cycle a call."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cyscc.sim.memory import FLUSH, READ, WRITE, Memory, Profile, parse_profile

Request = tuple[int, int, int, int]
"""Kind, port, payload, data."""


def machine(
    profile: str | Profile = "hc2", *, engines: int = 1, ports: int = 1, size: int = 1 << 16, capacity: int = 1 << 20
) -> Memory:
    """Return a memory with `size` bytes allocated, from address 4096 on."""
    named = parse_profile(profile) if isinstance(profile, str) else profile
    memory = Memory(named, engines=engines, ports=ports, capacity=capacity)
    memory.allocate(size)
    return memory


def read(port: int, address: int, *, size: int = 8, tag: int = 0) -> Request:
    """Return a read of 4 or 8 bytes."""
    return READ, port, address | (size >> 3) << 48 | tag << 49, 0


def write(port: int, address: int, data: int, *, size: int = 8) -> Request:
    """Return a write of 4 or 8 bytes."""
    return WRITE, port, address | (size >> 3) << 48, data


def flush(port: int) -> Request:
    """Return a flush."""
    return FLUSH, port, 0, 0


def hand_over(box: np.void, requests: Iterable[Request]) -> None:
    """Put requests into an engine's mailbox."""
    for kind, port, payload, data in requests:
        box["requests"][kind] |= np.uint64(1 << port)
        if kind == READ:
            box["read_payloads"][port] = payload
        elif kind == WRITE:
            box["write_payloads"][port] = payload
            box["write_data"][port] = data & 0xFFFF_FFFF_FFFF_FFFF


def shown(box: np.void) -> list[object]:
    """Return all that an engine's mailbox shows it."""
    return [box[name].tolist() for name in ("read_ready", "write_ready", "responses", "flushed", "tags", "data")]


@dataclass(frozen=True, kw_only=True)
class View:
    """Signals from the memory to an engine in a cycle.

    Parameters
    ----------
    reads_ready, writes_ready, flushed : int
        Masks over the ports.
    responses : dict
        Port to (tag, data).
    """

    reads_ready: int
    writes_ready: int
    flushed: int
    responses: dict[int, tuple[int, int]]


class Stepper:
    """Drives a memory cycle by cycle, settling after each.

    Parameters
    ----------
    memory : Memory
        A fresh memory.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.cycle = 0
        self.code = 0

    def step(self, requests: Iterable[Request] = (), *, ae: int = 0) -> View:
        """Run one cycle of one engine, the others idle; return what it saw before it handed over the requests."""
        memory = self.memory
        for other in range(memory.engines):
            memory.prepare(other, self.cycle)
        box = memory.mailboxes[ae]
        responses = int(box["responses"])
        view = View(
            reads_ready=int(box["read_ready"]),
            writes_ready=int(box["write_ready"]),
            flushed=int(box["flushed"]),
            responses={
                port: (int(box["tags"][port]), int(box["data"][port]))
                for port in range(memory.ports)
                if responses >> port & 1
            },
        )
        hand_over(box, requests)
        for other in range(memory.engines):
            memory.accept(other, self.cycle)
        self.code = memory.settle(self.cycle)
        self.cycle += 1
        return view

    def run(self, cycles: int, *, ae: int = 0) -> list[tuple[int, View]]:
        """Run idle cycles; return those with a response or a completed flush."""
        events = []
        for _ in range(cycles):
            cycle, view = self.cycle, self.step(ae=ae)
            if view.responses or view.flushed:
                events.append((cycle, view))
        return events
