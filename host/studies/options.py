"""Options that several studies share, and lists as their values."""

import argparse
from collections.abc import Callable, Mapping
from typing import TypeVar

from host.options import at_least, integer

__all__ = ["add_graph_options", "add_machines", "add_vertices"]

_LEAST, _MOST = 1 << 4, 1 << 25

_Value = TypeVar("_Value")


def _once(values: tuple[_Value, ...]) -> tuple[_Value, ...]:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise argparse.ArgumentTypeError(f"{value} is given twice")
    return values


def _sizes(text: str) -> tuple[int, ...]:
    """Return the numbers of vertices that a list such as 2^16,2^20 names.

    Raises
    ------
    argparse.ArgumentTypeError
        One is none, or no power of two, or too large, or given twice.
    """
    values = tuple(integer(part, low=1) for part in text.split(","))
    for value in values:
        if value & (value - 1) or not _LEAST <= value <= _MOST:
            raise argparse.ArgumentTypeError(f"must be powers of two from 2^4 to 2^25, not {value}")
    return _once(values)


def _degrees(text: str) -> tuple[int, ...]:
    """Return the degrees that a list such as 8,16 names."""
    return _once(tuple(integer(part, low=1, high=1 << 16) for part in text.split(",")))


def _names(known: Mapping[str, str]) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of lists of machines."""

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"unknown machine {name!r}: there are {', '.join(known)}")
        return _once(names)

    return parse


def add_machines(parser: argparse.ArgumentParser, known: Mapping[str, str], *, default: str = "published") -> None:
    """Add the option that names the machines, of `host.studies.machines`."""
    text = f"machines: {', '.join(known)} (default: %(default)s)"
    parser.add_argument("--configs", default=default, type=_names(known), metavar="NAME[,...]", help=text)


def add_vertices(parser: argparse._ActionsContainer, *, default: str) -> None:
    """Add the option that says how many vertices graphs have."""
    text = "numbers of vertices, powers of two (default: %(default)s)"
    parser.add_argument("--vertices", default=default, type=_sizes, metavar="N[,...]", help=text)


def add_graph_options(parser: argparse.ArgumentParser, *, vertices: str, degrees: str) -> None:
    """Add the options that say how large graphs are, with their defaults."""
    add_vertices(parser, default=vertices)
    parser.add_argument(
        "--degrees", default=degrees, type=_degrees, metavar="D[,...]", help="average degrees (default: %(default)s)"
    )
    parser.add_argument(
        "--max-edges",
        default="2^26",
        type=at_least(1),
        metavar="N",
        help="leave out graphs of more edges (default: 2^26)",
    )
