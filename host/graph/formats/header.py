"""What the headers of the text formats have in common."""

from host.errors import InputError
from host.graph.csr import check_limits
from host.graph.formats.text import shown

__all__ = ["number", "size"]

_LONGEST = 4300  # digits that int() takes


def number(token: bytes, what: str) -> int:
    """Read a count of a header.

    Parameters
    ----------
    token : bytes
        The digits.
    what : str
        What it counts, for the message.

    Raises
    ------
    InputError
        When it is not a whole number, or negative.
    """
    digits = token.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > _LONGEST:
        raise InputError(f"{shown(token)} is not a number of {what}")
    if digits != token:
        raise InputError(f"the number of {what}, {token.decode()}, is negative")
    return int(digits)


def size(vertices: int, edges: int) -> None:
    """Refuse the size that a header announces when it has no vertices or does not fit in 32 bits.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    if vertices == 0:
        raise InputError("the graph is empty: it has no vertices")
    check_limits(vertices, edges)
