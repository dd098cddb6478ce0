"""One engine's testbench in plain Python: a cycle a call."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.memory import FLUSH, READ, WRITE, MailboxLayout, Memory, accept, as_word, mailbox_layout, prepare, settle

__all__ = ["Request", "Stepper", "View", "flush", "hand_over", "read", "write"]

Request = tuple[int, int, int, int]
"""Kind, port, payload, data."""


def read(port: int, address: int, *, size: int = 8, tag: int = 0) -> Request:
    """Return a read of 4 or 8 bytes."""
    return READ, port, address | (size >> 3) << 48 | tag << 49, 0


def write(port: int, address: int, data: int, *, size: int = 8) -> Request:
    """Return a write of 4 or 8 bytes."""
    return WRITE, port, address | (size >> 3) << 48, data


def flush(port: int) -> Request:
    """Return a flush."""
    return FLUSH, port, 0, 0


def hand_over(box: NDArray[np.int64], layout: MailboxLayout, requests: Iterable[Request]) -> None:
    """Put requests into an engine's mailbox."""
    for kind, port, payload, data in requests:
        box[layout.reads + kind] |= 1 << port
        if kind == READ:
            box[layout.read_payloads + port] = as_word(payload)
        elif kind == WRITE:
            box[layout.write_payloads + port] = as_word(payload)
            box[layout.write_data + port] = as_word(data)


@dataclass(frozen=True, kw_only=True)
class View:
    """What an engine sees in a cycle.

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
        memory, layout = self.memory, mailbox_layout(self.memory.ports)
        for other in range(memory.engines):
            prepare(memory.context, other, self.cycle)
        box = memory.mailbox[ae]
        shown = int(box[layout.responses])
        view = View(
            reads_ready=int(box[layout.read_ready]),
            writes_ready=int(box[layout.write_ready]),
            flushed=int(box[layout.flushed]),
            responses={
                port: (int(box[layout.tags + port]), int(box[layout.data + port]))
                for port in range(memory.ports)
                if shown >> port & 1
            },
        )
        hand_over(box, layout, requests)
        for other in range(memory.engines):
            accept(memory.context, other, self.cycle)
        self.code = settle(memory.context, self.cycle)
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
