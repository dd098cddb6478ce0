"""The register map of the AXI4-Lite slave: byte addresses, 32-bit registers."""

from enum import IntEnum, IntFlag

CONTROL_WINDOW = 0x4000
"""First address of the registers that the slave adds to those of the AE."""

IDENTITY = 0x43595343
"""Value of `ControlRegister.IDENTITY`: the letters CSYC, the first one in the lowest byte."""


class ControlRegister(IntEnum):
    """Addresses of the registers that the slave adds."""

    IDENTITY = CONTROL_WINDOW
    """Read only: 0x43595343, the letters CSYC."""
    SHAPE = CONTROL_WINDOW + 0x04
    """Read only: BFS kernels in bits 7:0, intersection kernels in 15:8, AEs of the machine in 23:16."""
    ENGINE = CONTROL_WINDOW + 0x08
    """Number of this AE, 0 to 3. Written once, before the first dispatch."""
    STATUS = CONTROL_WINDOW + 0x0C
    """Read only: see `AxiStatus`."""
    DISPATCH = CONTROL_WINDOW + 0x10
    """Write only: dispatches the instruction of this number."""
    READ_ERRORS = CONTROL_WINDOW + 0x14
    """A bit per memory port: a read was answered by an error. Writing ones clears bits."""
    WRITE_ERRORS = CONTROL_WINDOW + 0x18
    """A bit per memory port: a write was answered by an error. Writing ones clears bits."""


class AxiStatus(IntFlag):
    """Bits of `ControlRegister.STATUS`."""

    IDLE = 1
    """No instruction is running."""
    EXCEPTION = 2
    """An instruction was refused by the AE."""
    READ_ERROR = 4
    """`ControlRegister.READ_ERRORS` is not zero."""
    WRITE_ERROR = 8
    """`ControlRegister.WRITE_ERRORS` is not zero."""


def engine_register(number: int) -> int:
    """Return the address of the low half of an AEG register; its high half is 4 bytes further.

    Parameters
    ----------
    number : int
        As in `cyscc.hw.registers`, the kernel window included.
    """
    return 8 * number
