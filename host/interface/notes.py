"""Options that several questions share: each is described once, as the annotation of a parameter."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyscc.host.output.progress import Progress
from cyscc.host.record.tables import PHASES
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

__all__ = [
    "CORES",
    "Area",
    "At",
    "Config",
    "Device",
    "Family",
    "GraphAgain",
    "GraphFile",
    "Iteration",
    "Jobs",
    "Keep",
    "Level",
    "Memory",
    "MemoryAgain",
    "NoVerify",
    "Order",
    "OtherRecords",
    "Output",
    "Phase",
    "Recorded",
    "Scheduler",
    "Seed",
    "Set",
    "Threads",
    "Top",
    "Undirected",
    "Wanted",
    "form_of",
    "place_of",
]

CORES = available_cores()
"""Cores that the process may use: the default number of threads and processes."""

_FAMILIES = ("xc5v", "xc6v")

Wanted: TypeAlias = "Progress | bool"
"""Whether progress is shown; commands give one of their own."""

Recorded = Annotated["Record | Result | str | PathLike[str]", Ask(help="the folder that --record wrote", metavar="DIR")]
"""A record, the result of a recorded run, or a record's folder."""


def form_of(name: str) -> Callable[[str], Any]:
    """Return what checks the text of a part of a place."""

    def check(text: str) -> None:
        try:
            Place.parse(f"{name}={text}")
        except ValueError as error:
            raise ValueError(str(error).removeprefix(f"{name}: ")) from None

    return check


def place_of(taker: str, at: "Place | str | int | None" = None, **parts: Any) -> Place:
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


At = Annotated[
    "Place | str | int | None",
    Ask(
        help="only this place: a cycle, cycles FIRST:LAST, or parts such as level=3-5,iteration=2,phase=backward",
        metavar="PLACE",
    ),
]
"""A part of a run; `cyscc.host.specification.place` describes the notation."""

Iteration = Annotated[
    "int | str | None",
    Ask(help="only this iteration of an SCC run, from 1, or these: 3-5", metavar="N", form=form_of("iteration")),
]

Level = Annotated[
    "int | str | None",
    Ask(help="only this level of the searches, from 0, or these: 3-5", metavar="N", form=form_of("level")),
]

Phase = Annotated[str | None, Ask(help="only this phase: forward, backward or intersection", choices=PHASES)]

OtherRecords = Annotated[
    "Record | Result | str | PathLike[str]",
    Ask(help="a second one, to compare with the first; several: groups of runs", metavar="DIR2", count="*"),
]

GraphFile = Annotated[
    "Graph | str | PathLike[str]", Ask(help=option_of("graph").help, metavar="GRAPH", reads="the graph")
]

GraphAgain = Annotated[
    "Graph | str | PathLike[str] | None", Ask(help="the graph, if its file was moved", metavar="FILE", flag="--graph")
]

MemoryAgain = Annotated[
    "Profile | str | PathLike[str] | None",
    Ask(help="the run's memory rules, if they are in a file", metavar="FILE.py", flag="--memory", parse=GivenText),
]

Config = Annotated["str | AcceleratorConfig", option_of("config")]

Memory = Annotated["str | Profile", option_of("memory")]

Set = Annotated[Mapping[str, Any] | None, option_of("overrides")]

Threads = Annotated[
    int | None,
    Ask(help=f"threads that it may use (default: the cores, {CORES})", metavar="N", low=1, high=1024),
]

Jobs = Annotated[
    int | None,
    Ask(help=f"processes that measure in parallel (default: the cores, {CORES})", metavar="N", low=1, high=1024),
]

Scheduler = Annotated[
    str | None,
    Ask(help="simulate on the workers of this Dask scheduler, instead of --jobs", metavar="ADDRESS"),
]

Area = Annotated[bool, Ask(help="synthesise each machine too: LUTs, registers, block RAM")]

Family = Annotated[
    "str | tuple[str, ...] | None",
    Ask(help="FPGA family of the area; may be repeated (default: xc5v, the paper's)", choices=_FAMILIES, repeated=True),
]

Output = Annotated[
    "str | PathLike[str]",
    Ask(help="folder for the results (default: {default})", metavar="DIR", flag="--output", short="-o"),
]

Keep = Annotated[
    "str | PathLike[str] | None",
    Ask(help="keep Verilog, netlists, reports and logs in this folder; all is measured anew", metavar="DIR"),
]

Top = Annotated[int | None, Ask(help="maximum rows of a table (default: 12)", metavar="N", low=1)]

Seed = Annotated[int, Ask(help="seed of random choices (default: {default})", metavar="S", low=0)]

Device = Annotated[
    str, Ask(help="where it runs: cpu (default), or cuda, a graphics processor", choices=("cpu", "cuda"))
]

Order = Annotated[
    str,
    Ask(
        help="order in which the threads of a step run: natural (default), reversed, or shuffled",
        choices=("natural", "reversed", "shuffled"),
    ),
]

Undirected = Annotated[bool, Ask(help=option_of("undirected").help)]

NoVerify = Annotated[bool, Ask(help="do not check the result", flag="--no-verify", switch=False)]
"""Whether the result is checked, which it is by default."""
