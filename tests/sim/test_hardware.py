"""Figures that the host takes from the hardware."""

import pytest
from amaranth.hdl import Elaboratable, Fragment

from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.switch.switch import Switch, SwitchSizes
from cyscc.sim import hardware


def made(part: Elaboratable) -> Elaboratable:
    """Return a component that counts as used, which it must be in Amaranth."""
    Fragment.get(part, None)
    return part


@pytest.mark.parametrize("depth", [4, 8, 16, 64])
def test_places_of_a_crosspoint(depth: int) -> None:
    bank = QueueBank(8, queues=2, depth=depth)
    made(bank)
    assert hardware.capacity_of(depth) == bank.capacity


def test_places_and_cycles_of_switch_and_exchange() -> None:
    assert 2 * SwitchSizes(kernels=1, link_bits=(3,), depth=4).places - 1 == hardware.SWITCH_ANSWERS
    assert 0 < hardware.SWITCH_BACK < hardware.SWITCH_CYCLES == Switch.LATENCY
    assert hardware.EXCHANGE_PLACES == 2 * ExchangeSlice.DEPTH - 1
