"""Types of parameters and parsers that several questions share; the options themselves are in `notes.toml`."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, SpecError
from cyscc.host.specification.place import Place
from cyscc.host.specification.run import option_of
from cyscc.sim.processors import available_cores
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.host.graph.csr import Graph
    from cyscc.host.record.reader import Record
    from cyscc.host.runs.results import Result
    from cyscc.sim.configuration import AcceleratorConfig
    from cyscc.sim.memory import Profile

CORES = available_cores()
"""Cores that the process may use: the default number of threads and processes."""

Wanted: TypeAlias = "Progress | bool"
"""Whether progress is shown; commands give one of their own."""

File: TypeAlias = "str | PathLike[str]"
MaybeFile: TypeAlias = "str | PathLike[str] | None"
AnyGraph: TypeAlias = "Graph | str | PathLike[str]"
MaybeGraph: TypeAlias = "Graph | str | PathLike[str] | None"
AnyRecord: TypeAlias = "Record | Result | str | PathLike[str]"
"""A record, the result of a recorded run, or a record's folder."""
AnyPlace: TypeAlias = "Place | str | int | None"
Range: TypeAlias = "int | str | None"
"""A number, or the text of a range of them."""
Families: TypeAlias = "str | Sequence[str] | None"
Machine: TypeAlias = "str | AcceleratorConfig"
Values: TypeAlias = "Mapping[str, Any] | None"
"""Values that replace single ones of a machine or its memory."""

GRAPH, UNDIRECTED = (option_of(name).help for name in ("graph", "undirected"))


def together(field: str, given: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return values by name, of which none may be given twice.

    Raises
    ------
    SpecError
        One is given twice; `field` is their parameter.
    """
    found: dict[str, Any] = {}
    for name, value in given.items() if isinstance(given, Mapping) else given:
        if name in found:
            raise SpecError(field, f"{name!r} is given twice" if field else f"{name} is given twice")
        found[str(name)] = value
    return found


def place_of(taker: str, at: AnyPlace = None, **parts: Any) -> Place:
    """Return the place that an option and others with parts of it describe.

    Raises
    ------
    SpecError
        It is no place, or `taker`, one of `cyscc.host.specification.place.TAKEN`, does not take it.
    """
    try:
        return Place.of(at, **parts).taken(taker)
    except ValueError as error:
        raise SpecError("" if at is None else "at", str(error)) from None


class Inputs(TypedDict, total=False):
    """Graph and memory with which a recorded run is made again."""

    graph: Annotated[MaybeGraph, Ask("the graph, if its file was moved", "FILE")]
    memory: Annotated[
        "Profile | str | PathLike[str] | None",
        Ask("the run's memory rules, if they are in a file", "FILE.py", flag="--memory", parse=GivenText),
    ]
    progress: Wanted


class Again(Inputs, total=False):
    """How a recorded run is made again."""

    threads: int | None


class Many(TypedDict, total=False):
    """How many runs are made, and what of their machines is measured besides."""

    jobs: int | None
    scheduler: str | None
    area: bool
    family: Families
    progress: Wanted


class AgainMany(Many, Inputs, total=False):
    """How a recorded run is made again many times."""
