"""The documents of a record: their fields, by which they are checked, and how they are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from cyscc.host.output.documents import read_sealed
from cyscc.host.output.errors import InputError, refusing
from cyscc.host.record.tables import LARGEST, TABLES
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.observation.causes import CAUSE_NAMES

RECORD = "record"
"""Folder of a record in a folder that has more than that."""

DOCUMENT = "record.json"
"""File name of a record's document."""
FAILURE = "failed.json"
"""File name of the document that a failed run leaves."""
RECORD_SCHEMA = 4
"""Schema version of records; increased when a table, column or field is removed or changes its meaning."""

_MOST_BANKS = 1 << 16

Count: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive: TypeAlias = Annotated[int, Meta(ge=1, le=LARGEST)]
Quantity: TypeAlias = Annotated[float, Meta(ge=0, le=1e18)]
Hexadecimal: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Name: TypeAlias = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$", max_length=64)]
Scalar: TypeAlias = bool | int | float | str | None


class FifoDocument(msgspec.Struct, forbid_unknown_fields=True):
    """A FIFO of a kernel."""

    name: Name
    depth: Annotated[int, Meta(ge=1, le=1 << 16, description="Entries that credits allow.")]
    parameter: Annotated[Name, Meta(description="Field of the configuration that sets it.")]
    answers: Annotated[
        Name | None, Meta(description="Cause of the reads whose answers it takes; null where it takes none.")
    ]


class FifosDocument(msgspec.Struct, forbid_unknown_fields=True):
    """FIFOs of a kernel by module."""

    bfs: Annotated[list[FifoDocument], Meta(max_length=8)]
    intersection: Annotated[list[FifoDocument], Meta(max_length=8)]


class KernelsDocument(msgspec.Struct, forbid_unknown_fields=True):
    """Kernels of an AE by module."""

    bfs: Annotated[int, Meta(ge=0, le=16)]
    intersection: Annotated[int, Meta(ge=0, le=16)]


class CausesDocument(msgspec.Struct, forbid_unknown_fields=True):
    """Cycles of all kernels by module and cause; those of a module add up to its kernels times `cycles.total`."""

    bfs: dict[str, Count]
    intersection: dict[str, Count]


class MemoryDocument(msgspec.Struct, forbid_unknown_fields=True):
    """Banks and links, where the memory has them."""

    controllers: Annotated[int, Meta(ge=1, le=256)]
    banks: Annotated[int, Meta(ge=1, le=_MOST_BANKS, description="Of each controller.")]
    links: Annotated[int, Meta(ge=1, le=1 << 12, description="Of each AE.")]
    bank_busy: Annotated[
        float,
        Meta(gt=0, le=1e9, description="Cycles of a bank for an access; of banks with rows, on average."),
    ]


class MachineDocument(msgspec.Struct, forbid_unknown_fields=True):
    """Sizes that the tables speak of."""

    engines: Annotated[int, Meta(ge=1, le=4, description="AEs.")]
    kernels: KernelsDocument
    fifos: FifosDocument
    memory: MemoryDocument | None


class OptionsDocument(msgspec.Struct):
    """Options of the command by name; null where one was not given. `set` has the values of --set by key."""

    config: str
    memory: str
    executor: str
    queue_slack: Count | None
    cycle_limit: Count | None
    simplify: bool
    undirected: bool = False
    set: dict[str, Scalar] = {}


class RunDocument(msgspec.Struct, forbid_unknown_fields=True):
    """The run itself: its graph, working folder and options. A replay takes it with configuration and memory."""

    graph: Annotated[str, Meta(description="The graph's file as it was given.")]
    folder: Annotated[str, Meta(description="Where the command ran; the file's name is relative to it.")]
    digest: Annotated[Hexadecimal, Meta(description="SHA-256 of the graph as the machine had it.")]
    vertices: Positive
    edges: Count
    options: OptionsDocument


class CyclesDocument(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Where the cycles simulated went, as statistics.cycles of the result; those of the parts add up to the total."""

    instructions: Count
    host: Count
    restarted: Count
    readout: Count
    unfinished: Annotated[
        Count | msgspec.UnsetType, Meta(description="Of a part of a run: of instructions that are not wholly in it.")
    ] = msgspec.UNSET
    total: Count


class RunPartDocument(msgspec.Struct, forbid_unknown_fields=True):
    """The part of a run that a record is of. In its tables, cycles and instructions count from 0 at its begin."""

    begin: Annotated[int, Meta(ge=0, le=LARGEST, description="First cycle of the part, counted from reset.")]
    end: Annotated[int, Meta(ge=0, le=LARGEST, description="The cycle after its last.")]


class TotalDocument(msgspec.Struct):
    """Cycles of a result."""

    total: Count


class ComponentsDocument(msgspec.Struct):
    """Components of a result."""

    count: Count


class ResultDocument(msgspec.Struct):
    """The result, as --json has it: the fields that pages show."""

    cycles: TotalDocument
    seconds: Quantity
    edges_traversed: Count
    gteps: Quantity
    verified: bool | None
    statistics: dict[str, Any]
    components: ComponentsDocument | msgspec.UnsetType = msgspec.UNSET
    iterations: Count | msgspec.UnsetType = msgspec.UNSET


class EnvironmentDocument(msgspec.Struct, forbid_unknown_fields=True):
    """Where and when the run was started, or resumed for the last time; no result depends on it."""

    date: Annotated[str, Meta(max_length=64, description="Date and time, ISO 8601.")]
    python: Annotated[str, Meta(max_length=64, description="Version of Python.")]
    processor: Annotated[str, Meta(max_length=256, description="Name of the processor.")]
    system: Annotated[str, Meta(max_length=256, description="Operating system.")]


class SettingDocument(msgspec.Struct, kw_only=True):
    """A run that is recorded: what is known when it begins."""

    record: Annotated[
        int,
        Meta(
            description="Version of records: a table, column or field that goes or changes its meaning makes it one "
            f"more. This is {RECORD_SCHEMA}."
        ),
    ]
    schema: Annotated[int, Meta(description="Version of the JSON of all commands.")]
    version: Annotated[str, Meta(description="Version of the program.")]
    program: Annotated[
        Hexadecimal,
        Meta(description="SHA-256 of the sources that decide about a result: a replay needs the same."),
    ]
    command: Annotated[Literal["bfs", "scc"], Meta(description="The command that ran.")]
    run: RunDocument
    interval: Annotated[Positive, Meta(description="Cycles of an interval; the last one may be shorter.")]
    clock_hz: Annotated[float, Meta(gt=0, le=1e12, description="Clock of the machine.")]
    configuration: Annotated[dict[str, Scalar], Meta(description="Every field of the configuration.")]
    memory_profile: Annotated[dict[str, Scalar], Meta(description="Every parameter of the memory profile.")]
    machine: MachineDocument
    environment: EnvironmentDocument | msgspec.UnsetType = msgspec.UNSET
    sha256: Annotated[
        Hexadecimal | msgspec.UnsetType,
        Meta(description="SHA-256 of all other fields, as JSON with sorted keys and without blanks."),
    ] = msgspec.UNSET


class Document(SettingDocument, kw_only=True, forbid_unknown_fields=True):
    """`DOCUMENT`; beside it is a Parquet file for each table. Numbers are cycles unless they say otherwise."""

    cycles: CyclesDocument
    causes: CausesDocument
    tables: Annotated[dict[str, Count], Meta(description="Rows of each table.")]
    digests: Annotated[dict[str, Hexadecimal], Meta(description="SHA-256 of each table's file.")]
    result: ResultDocument | msgspec.UnsetType = msgspec.UNSET
    part: RunPartDocument | msgspec.UnsetType = msgspec.UNSET


class FailureDocument(msgspec.Struct, forbid_unknown_fields=True):
    """The failure of a run."""

    message: str
    diagnosis: Any
    cycle: Count
    moved: Count | None


class Failure(SettingDocument, kw_only=True, forbid_unknown_fields=True):
    """`FAILURE`: what a replay of a failed run needs."""

    failure: FailureDocument
    checkpoint: str | None


def check_setting(document: Mapping[str, Any], kind: type[SettingDocument]) -> None:
    """Check the fields of a document, and whether they agree with each other.

    Raises
    ------
    ValueError
        They are not those of the kind.
    """
    found = msgspec.convert(document, kind)
    config = AcceleratorConfig.from_mapping(document["configuration"])
    machine = found.machine
    fifos = [*machine.fifos.bfs, *machine.fifos.intersection]
    depths = {name: value for name, value in found.configuration.items() if type(value) is int}
    if machine.engines != config.engines or any(depths.get(each.parameter) != each.depth for each in fifos):
        raise ValueError("the machine is not that of its configuration")
    if any(each.answers is not None and each.answers not in CAUSE_NAMES for each in fifos):
        raise ValueError("a FIFO takes the answers of no cause")
    memory = machine.memory
    if memory is not None and memory.controllers * memory.banks > _MOST_BANKS:
        raise ValueError(f"the memory has more than {_MOST_BANKS:,} banks")
    if isinstance(found, Document):
        names = {table.name for table in TABLES}
        if set(found.tables) != names or set(found.digests) != names:
            raise ValueError("the tables are not those of a record")
        cycles = found.cycles
        unfinished = cycles.unfinished or 0
        if cycles.total != cycles.instructions + cycles.host + cycles.restarted + cycles.readout + unfinished:
            raise ValueError("the cycles do not add up to their total")
        if not found.part:
            if not found.result or cycles.unfinished:
                raise ValueError("it has no result, or unfinished instructions, and is not of a part of a run")
        elif found.result or found.part.end - found.part.begin != cycles.total:
            raise ValueError("the part is not that of its cycles, or has a result")


def read_checked(path: Path, kind: type[SettingDocument]) -> dict[str, Any] | None:
    """Return a document of the current schema version; None if there is no file.

    Raises
    ------
    InputError
        The document is damaged, of another version, or is no such document.
    """
    try:
        document = read_sealed(path)
    except FileNotFoundError:
        return None
    found = document.get("record")
    if found != RECORD_SCHEMA:
        raise InputError(f"is no record of version {RECORD_SCHEMA}, but {found!r}", path=path)
    with refusing(ValueError, before="is no document of a record: ", path=path):
        check_setting(document, kind)
    return document


def read_failure(folder: Path) -> dict[str, Any] | None:
    """Return the document that a failed run has left in a folder; None if there is none.

    Raises
    ------
    InputError
        The document cannot be read.
    """
    return read_checked(folder / FAILURE, Failure)
