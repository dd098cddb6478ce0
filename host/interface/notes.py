"""Options that several questions share: each is described once, as the annotation of a parameter."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypedDict

from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, SpecError
from cyscc.host.specification.place import PHASES, Place
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

_FAMILIES = ("xc5v", "xc6v")

Wanted: TypeAlias = "Progress | bool"
"""Whether progress is shown; commands give one of their own."""

File: TypeAlias = "str | PathLike[str]"
MaybeFile: TypeAlias = "str | PathLike[str] | None"
AnyGraph: TypeAlias = "Graph | str | PathLike[str]"
MaybeGraph: TypeAlias = "Graph | str | PathLike[str] | None"
AnyRecord: TypeAlias = "Record | Result | str | PathLike[str]"
"""A record, the result of a recorded run, or a record's folder."""

Recorded = Annotated[AnyRecord, Ask("the folder that --record wrote", "DIR")]
Records = Annotated[
    AnyRecord, Ask("a second one, to compare with the first; several: groups of runs", "DIR2", count="*")
]


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
    Ask("only this place: a cycle, cycles FIRST:LAST, or parts such as level=3-5,iteration=2,phase=backward", "PLACE"),
]
"""A part of a run; `cyscc.host.specification.place` describes the notation."""

Iteration = Annotated[
    "int | str | None", Ask("only this iteration of an SCC run, from 1, or these: 3-5", "N", form=form_of("iteration"))
]

Level = Annotated[
    "int | str | None", Ask("only this level of the searches, from 0, or these: 3-5", "N", form=form_of("level"))
]

Phase = Annotated[str | None, Ask("only this phase: forward, backward or intersection", choices=PHASES)]

GraphFile = Annotated[AnyGraph, Ask(option_of("graph").help, "GRAPH", reads="the graph")]

MemoryAgain = Annotated[
    "Profile | str | PathLike[str] | None",
    Ask("the run's memory rules, if they are in a file", "FILE.py", flag="--memory", parse=GivenText),
]

Config = Annotated["str | AcceleratorConfig", option_of("config")]

Memory = Annotated["str | Profile", option_of("memory")]

Set = Annotated[Mapping[str, Any] | None, option_of("overrides")]

Threads = Annotated[int | None, Ask(f"threads that it may use (default: the cores, {CORES})", "N", low=1, high=1024)]

Jobs = Annotated[
    int | None, Ask(f"processes that measure in parallel (default: the cores, {CORES})", "N", low=1, high=1024)
]

Area = Annotated[bool, Ask("synthesise each machine too: LUTs, registers, block RAM", switch=True)]

Family = Annotated[
    "str | Sequence[str] | None",
    Ask("FPGA family of the area; may be repeated (default: xc5v, the paper's)", choices=_FAMILIES, repeated=True),
]

Output = Annotated[File, Ask("folder for the results (default: {default})", "DIR", flag="--output", short="-o")]

Folder = Annotated[
    File,
    Ask(
        "folder for the runs that are made, which are found there again (default: {default})",
        "DIR",
        flag="--output",
        short="-o",
    ),
]

Keep = Annotated[MaybeFile, Ask("keep Verilog, netlists, reports and logs in this folder; all is measured anew", "DIR")]

Seed = Annotated[int, Ask("seed of random choices (default: {default})", "S", low=0)]

Device = Annotated[str, Ask("where it runs: cpu (default), or cuda, a graphics processor", choices=("cpu", "cuda"))]

Order = Annotated[
    str,
    Ask(
        "order in which the threads of a step run: natural (default), reversed, or shuffled",
        choices=("natural", "reversed", "shuffled"),
    ),
]

Undirected = Annotated[bool, Ask(option_of("undirected").help)]

NoVerify = Annotated[bool, Ask("do not check the result", flag="--no-verify", switch=False)]
"""Whether the result is checked, which it is by default."""


class Inputs(TypedDict, total=False):
    """Graph and memory with which a recorded run is made again."""

    graph: Annotated[MaybeGraph, Ask("the graph, if its file was moved", "FILE")]
    memory: MemoryAgain
    progress: Wanted


class Again(Inputs, total=False):
    """How a recorded run is made again."""

    threads: Threads


class Many(TypedDict, total=False):
    """How many runs are made, and what of their machines is measured besides."""

    jobs: Jobs
    scheduler: Annotated[
        str | None, Ask("simulate on the workers of this Dask scheduler, instead of --jobs", "ADDRESS")
    ]
    area: Area
    family: Family
    progress: Wanted


class AgainMany(Many, Inputs, total=False):
    """How a recorded run is made again many times."""
