"""What the headers of the text formats have in common."""

from host.errors import InputError
from host.graph.csr import check_limits
from host.graph.estimates import list_bytes, size_text
from host.graph.formats.text import shown
from host.memory_room import check_room

__all__ = ["list_size", "number", "size"]

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


def list_size(vertices: int, edges: int, *, mirror: bool = False) -> None:
    """Refuse the size that the header of a list of edges announces, also when there is no memory for it.

    Parameters
    ----------
    vertices, edges : int
        What the header says.
    mirror : bool
        Whether each edge may be followed by its reverse.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    size(vertices, edges)
    check_room(size_text(vertices, edges), list_bytes(vertices, edges * (1 + mirror)))
