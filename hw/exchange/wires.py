"""What runs between kernels and the exchange."""

from amaranth.hdl import Value, ValueLike

ID_BITS = 32
"""Bits of a vertex id."""

PLANES = ("even", "odd")
"""The planes, by bit 0 of the ids that run in them."""


def owner_bits(vertex: ValueLike, kernels: int) -> Value:
    """Return the number of the kernel that owns an id: as many bits above bit 0 as a kernel's number has.

    Parameters
    ----------
    vertex : value
        The id.
    kernels : int
        Kernels of an AE, a power of two.
    """
    return Value.cast(vertex)[1 : kernels.bit_length()]


def rest_bits(kernels: int) -> int:
    """Return the width of an id without the bits of its plane and its owner.

    Parameters
    ----------
    kernels : int
        Kernels of an AE, a power of two.
    """
    return ID_BITS - kernels.bit_length()
