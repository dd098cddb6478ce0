"""The memory of the HC-2 for every engine: functional, and exact in time.

Python callers use `Memory` and, for each cycle of each engine, `prepare` and `accept`, and `settle` when the engines
meet. `seal`, `serve` and `deliver` are its parts, for engines on threads. Compiled engines call the same functions
through `Memory.addresses`.
"""

from sim.memory.entries import accept, deliver, next_event, prepare, seal, serve, settle
from sim.memory.model import Memory
from sim.memory.parameters import MemoryParameters, parse_profile
from sim.memory.state import FLUSH, READ, WRITE, MailboxLayout, PayloadLayout, as_word, mailbox_layout

__all__ = [
    "FLUSH",
    "READ",
    "WRITE",
    "MailboxLayout",
    "Memory",
    "MemoryParameters",
    "PayloadLayout",
    "accept",
    "as_word",
    "deliver",
    "mailbox_layout",
    "next_event",
    "parse_profile",
    "prepare",
    "seal",
    "serve",
    "settle",
]
