"""What runs between the switch's slices: requests to the links, without the address bits that a link knows."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Value
from amaranth.lib import data

from cyscc.hw.interfaces import ADDRESS_WIDTH

_ALIGNED = 2
"""Lowest bits of an address, which are 0 since the smallest element has 4 bytes."""


def link_request(link_bits: Sequence[int]) -> data.StructLayout:
    """Return the layout of an entry of a crosspoint queue: a read, or a write with its data.

    Parameters
    ----------
    link_bits : sequence of int
        Positions of the address bits that make the link's number, lowest first. The address comes without them, and
        without those that are always 0.
    """
    return data.StructLayout({"write": 1, "size": 1, "address": len(_carried(link_bits)), "data": 64})


def link_of(address: Value, link_bits: Sequence[int]) -> Value:
    """Return the number of the link of an address."""
    return Cat(address[bit] for bit in link_bits)


def short_address(address: Value, link_bits: Sequence[int]) -> Value:
    """Return the bits of an address that a request carries to its link."""
    return Cat(address[bit] for bit in _carried(link_bits))


def long_address(short: Value, link: Value, link_bits: Sequence[int]) -> Value:
    """Return the address of a request, given the number of its link."""
    carried = iter(short)
    known = dict(zip(link_bits, link, strict=True))
    aligned = [0] * _ALIGNED
    return Cat(aligned, [known[bit] if bit in known else next(carried) for bit in range(_ALIGNED, ADDRESS_WIDTH)])


def _carried(link_bits: Sequence[int]) -> list[int]:
    return [bit for bit in range(_ALIGNED, ADDRESS_WIDTH) if bit not in link_bits]
