"""Signatures of the AXI4, AXI4-Lite and AXI4-Stream ports (AMBA AXI and ACE protocol, ARM IHI 0022)."""

from amaranth.lib import enum
from amaranth.lib.wiring import In, Out, Signature

__all__ = ["LINK_WIDTH", "LITE_ADDRESS_WIDTH", "Axi4LiteSignature", "Axi4Signature", "AxiStreamSignature", "Resp"]

LITE_ADDRESS_WIDTH = 17
"""Width in bits of a register's byte address."""

LINK_WIDTH = 40
"""Width in bits of the token on an AXI4-Stream: 35 used, rounded up to bytes."""


class Resp(enum.Enum, shape=2):
    """Response codes."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def Axi4Signature() -> Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of an AXI4 master with 64-bit addresses and data, one ID, seen from the master."""
    return Signature(
        {
            "awid": Out(1),
            "awaddr": Out(64),
            "awlen": Out(8),
            "awsize": Out(3),
            "awburst": Out(2),
            "awlock": Out(1),
            "awcache": Out(4),
            "awprot": Out(3),
            "awqos": Out(4),
            "awvalid": Out(1),
            "awready": In(1),
            "wdata": Out(64),
            "wstrb": Out(8),
            "wlast": Out(1),
            "wvalid": Out(1),
            "wready": In(1),
            "bid": In(1),
            "bresp": In(Resp),
            "bvalid": In(1),
            "bready": Out(1),
            "arid": Out(1),
            "araddr": Out(64),
            "arlen": Out(8),
            "arsize": Out(3),
            "arburst": Out(2),
            "arlock": Out(1),
            "arcache": Out(4),
            "arprot": Out(3),
            "arqos": Out(4),
            "arvalid": Out(1),
            "arready": In(1),
            "rid": In(1),
            "rdata": In(64),
            "rresp": In(Resp),
            "rlast": In(1),
            "rvalid": In(1),
            "rready": Out(1),
        }
    )


def Axi4LiteSignature() -> Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of an AXI4-Lite slave with 32-bit data, seen from its master."""
    return Signature(
        {
            "awaddr": Out(LITE_ADDRESS_WIDTH),
            "awprot": Out(3),
            "awvalid": Out(1),
            "awready": In(1),
            "wdata": Out(32),
            "wstrb": Out(4),
            "wvalid": Out(1),
            "wready": In(1),
            "bresp": In(Resp),
            "bvalid": In(1),
            "bready": Out(1),
            "araddr": Out(LITE_ADDRESS_WIDTH),
            "arprot": Out(3),
            "arvalid": Out(1),
            "arready": In(1),
            "rdata": In(32),
            "rresp": In(Resp),
            "rvalid": In(1),
            "rready": Out(1),
        }
    )


def AxiStreamSignature() -> Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of an AXI4-Stream that carries tokens, seen from its master."""
    return Signature({"tdata": Out(LINK_WIDTH), "tvalid": Out(1), "tready": In(1)})
