"""What runs between kernels and the exchange."""

from amaranth.hdl import Value, ValueLike
from amaranth.lib.wiring import Out, Signature

__all__ = ["ID_BITS", "PLANES", "SentSignature", "owner_bits", "rest_bits"]

ID_BITS = 32
"""Bits of a vertex id."""

PLANES = ("even", "odd")
"""The planes, by bit 0 of the ids that run in them."""


def SentSignature() -> Signature:  # noqa: N802 - signatures are named like the classes they stand for
    """Return the signature of a kernel's ids of a plane, as all exchange slices see them.

    Members
    -------
    valid : Out(1)
        There is an id. It is taken in a cycle in which the slice of its owner has room for this kernel.
    id : Out(32)
        The id.
    """
    return Signature({"valid": Out(1), "id": Out(ID_BITS)})


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
