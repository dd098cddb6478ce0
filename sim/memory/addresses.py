"""Where an address lives: controller, bank and crossbar link of the HC-2 (vendor's public simulation model)."""

import numpy as np
from numpy.typing import NDArray

from sim.memory.compiled import inlined

__all__ = [
    "BANKS",
    "BANKS_PER_CONTROLLER",
    "CONTROLLERS",
    "LINKS",
    "bank_of",
    "bank_places",
    "controller_of",
    "link_of",
    "place_of",
]

CONTROLLERS = 8
"""Memory controllers of the machine."""

BANKS_PER_CONTROLLER = 128
"""Banks behind one controller."""

BANKS = CONTROLLERS * BANKS_PER_CONTROLLER
"""Banks of the machine."""

LINKS = 2 * CONTROLLERS
"""Crossbar links of one application engine: an even and an odd one to each controller."""


@inlined
def controller_of(address: int) -> int:
    """Return the controller of a byte address: bits 8 to 6."""
    return (address >> 6) & 7


@inlined
def bank_of(address: int) -> int:
    """Return the bank of a byte address, counted over all controllers.

    In its controller a bank has the number `address[12:9] * 8 + address[5:3]`; controller 0 has the first 128.
    """
    return controller_of(address) << 7 | ((address >> 9) & 15) << 3 | (address >> 3) & 7


@inlined
def place_of(address: int) -> int:
    """Return the number that the bank of a byte address has in the state: bits 12 to 3 as they are."""
    return (address >> 3) & (BANKS - 1)


def bank_places() -> NDArray[np.int64]:
    """Return the number in the state of each bank, by bank."""
    addresses = range(0, 8 * BANKS, 8)
    return np.argsort([bank_of(address) for address in addresses])


@inlined
def link_of(address: int) -> int:
    """Return the link that an engine uses for a byte address: twice the controller, plus bit 3 (an assumption)."""
    return controller_of(address) << 1 | (address >> 3) & 1
