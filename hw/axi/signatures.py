"""Signatures of the AXI4, AXI4-Lite and AXI4-Stream ports (AMBA AXI and ACE protocol, ARM IHI 0022)."""

from typing import Any

from amaranth.lib import enum
from amaranth.lib.wiring import In, Member, Out, Signature

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


_ADDRESS = {"id": 1, "addr": 64, "len": 8, "size": 3, "burst": 2, "lock": 1, "cache": 4, "prot": 3, "qos": 4}
_LITE_ADDRESS = {"addr": LITE_ADDRESS_WIDTH, "prot": 3}


def _channel(prefix: str, payload: dict[str, Any], *, answers: bool = False) -> dict[str, Member]:
    """Return the members of a channel with its handshake, seen from the master."""
    forward, backward = (In, Out) if answers else (Out, In)
    members = {f"{prefix}{name}": forward(shape) for name, shape in payload.items()}
    return {**members, f"{prefix}valid": forward(1), f"{prefix}ready": backward(1)}


def Axi4Signature() -> Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of an AXI4 master with 64-bit addresses and data, one ID, seen from the master."""
    return Signature(
        {
            **_channel("aw", _ADDRESS),
            **_channel("w", {"data": 64, "strb": 8, "last": 1}),
            **_channel("b", {"id": 1, "resp": Resp}, answers=True),
            **_channel("ar", _ADDRESS),
            **_channel("r", {"id": 1, "data": 64, "resp": Resp, "last": 1}, answers=True),
        }
    )


def Axi4LiteSignature() -> Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of an AXI4-Lite slave with 32-bit data, seen from its master."""
    return Signature(
        {
            **_channel("aw", _LITE_ADDRESS),
            **_channel("w", {"data": 32, "strb": 4}),
            **_channel("b", {"resp": Resp}, answers=True),
            **_channel("ar", _LITE_ADDRESS),
            **_channel("r", {"data": 32, "resp": Resp}, answers=True),
        }
    )


def AxiStreamSignature() -> Signature:  # noqa: N802 - signatures are named like classes
    """Return the signature of an AXI4-Stream that carries tokens, seen from its master."""
    return Signature({"tdata": Out(LINK_WIDTH), "tvalid": Out(1), "tready": In(1)})
