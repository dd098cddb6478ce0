"""The tables of a record and their columns: the one place that names them, with units."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.arrays import ArrayKind
from sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ARRAYS", "CATEGORIES", "LEVEL_TABLES", "MODULES", "PHASES", "TABLES", "Column", "Table", "schema_of"]

MODULES = ("bfs", "intersection")
PHASES = ("forward", "backward", "intersection")
"""Kinds of instructions; a search of `cyscc bfs` is a forward one."""
ARRAYS = tuple(kind.name.lower() for kind in ArrayKind)
"""What an access can be to."""

CATEGORIES = {"module": MODULES, "phase": PHASES, "array": ARRAYS}
"""Values of the columns that are categories the same in all records; those of FIFOs are the machine's."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        Type of its values as Arrow calls it; ``category`` is text from a small set.
    unit : str
        What a value counts: cycles, entries, requests; empty for a name or number of a thing.
    about : str
        What it says.
    """

    name: str
    kind: str
    unit: str = ""
    about: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: a file ``<name>.parquet`` of a record.

    Parameters
    ----------
    name : str
        Its name.
    about : str
        What a row is.
    columns : tuple of Column
        Its columns.
    """

    name: str
    about: str
    columns: tuple[Column, ...]


_CYCLE = Column(name="cycle", kind="int64", unit="cycles", about="First cycle of the interval, counted from reset.")
_ENGINE = Column(name="engine", kind="uint8", about="The AE.")
_KERNEL = (
    _ENGINE,
    Column(name="module", kind="category", about="Kind of kernel: bfs or intersection."),
    Column(name="kernel", kind="uint8", about="Number of the kernel among those of its module in its AE."),
)
_CAUSES = tuple(Column(name=cause.name, kind="uint32", unit="cycles", about=cause.about) for cause in CAUSES)
_FIFO = Column(name="fifo", kind="category", about="The FIFO.")
_ARRAY = Column(name="array", kind="category", about="What was accessed: words, neighbours, queues, colours, other.")
_BANK = (
    Column(name="controller", kind="uint8", about="Memory controller."),
    Column(name="bank", kind="uint16", about="Number of the bank in its controller."),
)
_LINK = Column(name="link", kind="uint8", about="The link; each controller's are neighbours.")
_INSTRUCTION = Column(name="instruction", kind="int32", about="Number of the instruction, see table instructions.")


def _accesses(noun: str, wait: str) -> tuple[Column, ...]:
    return (
        Column(name=noun, kind="uint32", unit=noun, about=f"The {noun}."),
        Column(name="waiting", kind="int64", unit="cycles", about=wait),
    )


_BANK_ACCESSES = _accesses("accesses", "Cycles that they waited for the bank, summed.")

TABLES = (
    Table(
        name="kernels",
        about="An interval of a kernel: its cycles by cause, which add up to the interval.",
        columns=(_CYCLE, *_KERNEL, *_CAUSES),
    ),
    Table(
        name="fifos",
        about="An interval of a FIFO of a kernel.",
        columns=(
            _CYCLE,
            *_KERNEL,
            _FIFO,
            Column(name="fill", kind="uint32", unit="entry-cycles", about="Entries held, summed over the cycles."),
            Column(name="most", kind="uint16", unit="entries", about="Most entries held in a cycle."),
        ),
    ),
    Table(
        name="engines",
        about="An interval of an AE.",
        columns=(
            _CYCLE,
            _ENGINE,
            Column(name="bfs_turns", kind="uint32", unit="tokens", about="Tokens that reached its first BFS kernel."),
            Column(
                name="intersection_turns",
                kind="uint32",
                unit="tokens",
                about="Tokens that reached its first intersection kernel.",
            ),
            Column(
                name="ordering",
                kind="int64",
                unit="cycles",
                about="Cycles that responses waited for those before them.",
            ),
            Column(name="read_stalls", kind="uint32", unit="port-cycles", about="Cycles in which ports took no read."),
            Column(
                name="write_stalls", kind="uint32", unit="port-cycles", about="Cycles in which ports took no write."
            ),
        ),
    ),
    Table(
        name="arrays",
        about="An interval of an AE's accesses to an array; an access counts when its port takes it.",
        columns=(
            _CYCLE,
            _ENGINE,
            _ARRAY,
            Column(name="reads", kind="uint32", unit="reads", about="Reads."),
            Column(name="writes", kind="uint32", unit="writes", about="Writes."),
            Column(name="latency", kind="int64", unit="cycles", about="From a read to its response, summed."),
        ),
    ),
    Table(
        name="links",
        about="An interval of a crossbar link of an AE; only memories that have links.",
        columns=(
            _CYCLE,
            _ENGINE,
            _LINK,
            *_accesses("requests", "Cycles that they waited at their ports until the link took them, summed."),
        ),
    ),
    Table(
        name="banks",
        about="An interval of a bank; only memories that have banks.",
        columns=(_CYCLE, *_BANK, *_BANK_ACCESSES),
    ),
    Table(
        name="instructions",
        about="An instruction: a level of a search, or an intersection.",
        columns=(
            _INSTRUCTION,
            Column(name="attempt", kind="uint8", about="Attempt, from 0; all but the last one were given up."),
            Column(name="iteration", kind="int32", about="Iteration, from 1; 0 for the only search of cyscc bfs."),
            Column(name="phase", kind="category", about="forward, backward or intersection."),
            Column(name="level", kind="int32", about="Level of the search, from 0; -1 for an intersection."),
            Column(name="start", kind="int64", unit="cycles", about="Cycle of the dispatch, counted from reset."),
            Column(name="cycles", kind="int64", unit="cycles", about="From the dispatch until the last AE was idle."),
            Column(
                name="working", kind="int64", unit="cycles", about="From the dispatch until the last kernel was done."
            ),
            Column(name="frontier", kind="int64", unit="entries", about="Entries of the queues that it read."),
            Column(
                name="edges",
                kind="int64",
                unit="edges",
                about="Edges that leave the vertices of a level, each vertex taken once; 0 for an intersection.",
            ),
            Column(name="pushed", kind="int64", unit="entries", about="Entries that it pushed; 0 for an intersection."),
            Column(
                name="duplicates",
                kind="int64",
                unit="entries",
                about="Those of them for vertices that it pushed more than once.",
            ),
        ),
    ),
    Table(
        name="instruction_kernels",
        about="A kernel of the module that ran an instruction: its cycles by cause, which add up to the instruction.",
        columns=(
            _INSTRUCTION,
            *_KERNEL,
            Column(name="begun", kind="int64", unit="cycles", about="Cycles from the dispatch until the kernel began."),
            Column(name="done", kind="int64", unit="cycles", about="Cycles from the dispatch until it was done."),
            *_CAUSES,
        ),
    ),
    Table(
        name="instruction_fifos",
        about="A kind of FIFO in an instruction, over all kernels of the module.",
        columns=(
            _INSTRUCTION,
            Column(name="module", kind="category", about="Kind of kernel: bfs or intersection."),
            _FIFO,
            Column(
                name="fill", kind="int64", unit="entry-cycles", about="Entries held, summed over cycles and kernels."
            ),
            Column(name="most", kind="uint16", unit="entries", about="Most entries that one of them held in a cycle."),
        ),
    ),
    Table(
        name="instruction_banks",
        about="A bank's accesses to an array in an instruction, where there were any.",
        columns=(_INSTRUCTION, *_BANK, _ARRAY, *_BANK_ACCESSES),
    ),
    Table(
        name="instruction_links",
        about="A crossbar link of an AE in an instruction, where it took requests; only memories that have links.",
        columns=(
            _INSTRUCTION,
            _ENGINE,
            _LINK,
            Column(name="reads", kind="uint32", unit="reads", about="Reads that it took."),
            Column(name="writes", kind="uint32", unit="writes", about="Writes that it took."),
        ),
    ),
    Table(
        name="instruction_rows",
        about="A bank in an instruction, where it opened rows; only memories whose banks have rows.",
        columns=(
            _INSTRUCTION,
            *_BANK,
            Column(name="openings", kind="uint32", unit="rows", about="Rows that it opened."),
        ),
    ),
    Table(
        name="instruction_latencies",
        about="Reads of an instruction that took so many cycles, where there were any.",
        columns=(
            _INSTRUCTION,
            Column(
                name="latency", kind="uint16", unit="cycles", about="From a read to its response; 2047 is that or more."
            ),
            Column(name="reads", kind="uint32", unit="reads", about="Such reads."),
        ),
    ),
)

LEVEL_TABLES = ("instructions", "instruction_kernels", "instruction_links", "instruction_banks", "instruction_rows")
"""Tables of a record in memory: what each instruction asked of the machine, and nothing of intervals."""


def schema_of(name: str) -> "pa.Schema":
    """Return the columns of a table as Arrow has them.

    Raises
    ------
    KeyError
        There is no table of this name.
    """
    import pyarrow as pa

    kinds = {"category": pa.dictionary(pa.int8(), pa.string())}
    columns = {table.name: table.columns for table in TABLES}[name]
    return pa.schema([(column.name, kinds.get(column.kind) or getattr(pa, column.kind)()) for column in columns])
