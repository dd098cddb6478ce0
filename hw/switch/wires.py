"""What runs between the switch's slices: requests to the links, answers to the kernels."""

from amaranth.lib import data
from amaranth.lib.wiring import Out, Signature

from cyscc.hw.interfaces import ADDRESS_WIDTH, number_bits

__all__ = ["AnswerSignature", "LinkRequest", "RequestSignature"]

LinkRequest = data.StructLayout({"write": 1, "size": 1, "address": ADDRESS_WIDTH, "data": 64})
"""An entry of a crosspoint queue: a read, or a write with its data."""


def RequestSignature(links: int) -> Signature:  # noqa: N802 - signatures are named like the classes they stand for
    """Return the signature of a kernel's requests, as all link slices see them.

    Parameters
    ----------
    links : int
        Link slices.

    Members
    -------
    valid : Out(1)
        There is a request. It is taken in a cycle in which its link has room for this kernel.
    link : Out(number_bits(links))
        Its link.
    request : Out(LinkRequest)
        The request.
    """
    return Signature({"valid": Out(1), "link": Out(number_bits(links)), "request": Out(LinkRequest)})


def AnswerSignature(kernels: int) -> Signature:  # noqa: N802 - signatures are named like the classes they stand for
    """Return the signature of a link's answers, as all kernel slices see them; they are always taken.

    Parameters
    ----------
    kernels : int
        Kernel slices.

    Members
    -------
    valid : Out(1)
        There is an answer.
    kernel : Out(number_bits(kernels))
        Number of the kernel that read.
    data : Out(64)
        The data.
    """
    return Signature({"valid": Out(1), "kernel": Out(number_bits(kernels)), "data": Out(64)})
