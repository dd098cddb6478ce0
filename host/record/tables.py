"""The tables of a record and their columns, with units: their only definition."""

from typing import TYPE_CHECKING, NamedTuple

from cyscc.host.specification.place import MODULES, PHASES
from cyscc.sim.arrays import ArrayKind
from cyscc.sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ARRAYS",
    "CATEGORIES",
    "LARGEST",
    "LONGEST_LATENCY",
    "MODULES",
    "PHASES",
    "TABLES",
    "Column",
    "Table",
    "schema_of",
    "table_of",
]

ARRAYS = tuple(kind.name.lower() for kind in ArrayKind)
"""Arrays that an access can go to."""

CATEGORIES = {"module": MODULES, "phase": PHASES, "array": ARRAYS}
"""Values of the category columns that are equal in all records; the names of FIFOs depend on the machine."""

LONGEST_LATENCY = 2047
"""Last bin of a latency histogram; it holds all reads of this latency and above."""

LARGEST = 1 << 53
"""Largest number of a record: sums of them are exact as floating-point numbers."""


class Column(NamedTuple):
    """A column of a table.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        Arrow type of its values; ``category`` is text from a small set.
    unit : str
        Unit of a value: cycles, entries, requests; empty for a name or number of a thing.
    about : str
        Meaning of a value.
    low, high : int
        Least and largest value; the machine and the length of the run may limit it more.
    """

    name: str
    kind: str
    unit: str
    about: str
    low: int = 0
    high: int = LARGEST - 1


class Table(NamedTuple):
    """A table, stored as ``<name>.parquet`` in a record.

    Parameters
    ----------
    name : str
        Its name.
    about : str
        Meaning of a row.
    columns : tuple of Column
        Its columns.
    units : tuple of str
        The columns that name a part of the machine, if there is a row for every part: in each interval, or in each
        instruction of its module. Rows are in this order.
    """

    name: str
    about: str
    columns: tuple[Column, ...]
    units: tuple[str, ...] = ()


_CYCLE = Column("cycle", "int64", "cycles", "First cycle of the interval, counted from reset.")
_ENGINE = Column("engine", "uint8", "", "The AE.")
_KERNEL = (
    _ENGINE,
    Column("module", "category", "", "Kind of kernel: bfs or intersection."),
    Column("kernel", "uint8", "", "Number of the kernel among those of its module in its AE."),
)
_KERNEL_UNITS = tuple(column.name for column in _KERNEL)
_CAUSES = tuple(Column(cause.name, "uint32", "cycles", cause.about) for cause in CAUSES)
_FIFO = Column("fifo", "category", "", "The FIFO.")
_ARRAY = Column("array", "category", "", "What was accessed: words, neighbours, queues, colours, other.")
_BANK = (
    Column("controller", "uint8", "", "Memory controller."),
    Column("bank", "uint16", "", "Number of the bank in its controller."),
)
_LINK = Column("link", "uint16", "", "The link; each controller's are neighbours.")
_INSTRUCTION = Column("instruction", "int32", "", "Number of the instruction, see table instructions.")


def _accesses(noun: str, wait: str) -> tuple[Column, ...]:
    return (Column(noun, "uint32", noun, f"The {noun}.", low=1), Column("waiting", "int64", "cycles", wait))


_BANK_ACCESSES = _accesses("accesses", "Cycles that they waited for the bank, summed.")

TABLES = (
    Table(
        "kernels",
        "An interval of a kernel: its cycles by cause, which add up to the interval.",
        (_CYCLE, *_KERNEL, *_CAUSES),
        units=_KERNEL_UNITS,
    ),
    Table(
        "fifos",
        "An interval of a FIFO of a kernel.",
        (
            _CYCLE,
            *_KERNEL,
            _FIFO,
            Column("fill", "uint32", "entry-cycles", "Entries held, summed over the cycles."),
            Column("most", "uint16", "entries", "Most entries held in a cycle."),
        ),
        units=(*_KERNEL_UNITS, "fifo"),
    ),
    Table(
        "engines",
        "An interval of an AE.",
        (
            _CYCLE,
            _ENGINE,
            Column("bfs_turns", "uint32", "tokens", "Tokens that reached its first BFS kernel."),
            Column("intersection_turns", "uint32", "tokens", "Tokens that reached its first intersection kernel."),
            Column("ordering", "int64", "cycles", "Cycles that responses waited for those before them."),
            Column("read_stalls", "uint32", "port-cycles", "Cycles in which ports took no read."),
            Column("write_stalls", "uint32", "port-cycles", "Cycles in which ports took no write."),
        ),
        units=("engine",),
    ),
    Table(
        "arrays",
        "An interval of an AE's accesses to an array; an access counts when its port takes it.",
        (
            _CYCLE,
            _ENGINE,
            _ARRAY,
            Column("reads", "uint32", "reads", "Reads."),
            Column("writes", "uint32", "writes", "Writes."),
            Column("latency", "int64", "cycles", "From a read to its response, summed."),
        ),
    ),
    Table(
        "links",
        "An interval of a crossbar link of an AE; only memories that have links.",
        (
            _CYCLE,
            _ENGINE,
            _LINK,
            *_accesses("requests", "Cycles that they waited at their ports until the link took them, summed."),
        ),
    ),
    Table("banks", "An interval of a bank; only memories that have banks.", (_CYCLE, *_BANK, *_BANK_ACCESSES)),
    Table(
        "instructions",
        "An instruction: a level of a search, or an intersection.",
        (
            _INSTRUCTION,
            Column("attempt", "uint8", "", "Attempt, from 0; all but the last one were given up."),
            Column("iteration", "int32", "", "Iteration, from 1; 0 for the only search of cyscc bfs."),
            Column(
                "source",
                "int64",
                "",
                "Vertex at which the searches of its iteration begin, as the machine numbers vertices.",
            ),
            Column("phase", "category", "", "forward, backward or intersection."),
            Column("level", "int32", "", "Level of the search, from 0; -1 for an intersection.", low=-1),
            Column("start", "int64", "cycles", "Cycle of the dispatch, counted from reset."),
            Column("cycles", "int64", "cycles", "From the dispatch until the last AE was idle.", low=1),
            Column("working", "int64", "cycles", "From the dispatch until the last kernel was done."),
            Column("frontier", "int64", "entries", "Entries of the queues that it read."),
            Column(
                "edges",
                "int64",
                "edges",
                "Edges that leave the vertices of a level, each vertex taken once; 0 for an intersection.",
            ),
            Column("pushed", "int64", "entries", "Entries that it pushed; 0 for an intersection."),
            Column("duplicates", "int64", "entries", "Those of them for vertices that it pushed more than once."),
        ),
    ),
    Table(
        "instruction_kernels",
        "A kernel of the module that ran an instruction: its cycles by cause, which add up to the instruction.",
        (
            _INSTRUCTION,
            *_KERNEL,
            Column("begun", "int64", "cycles", "Cycles from the dispatch until the kernel began."),
            Column("done", "int64", "cycles", "Cycles from the dispatch until it was done."),
            *_CAUSES,
        ),
        units=_KERNEL_UNITS,
    ),
    Table(
        "instruction_fifos",
        "A kind of FIFO in an instruction, over all kernels of the module.",
        (
            _INSTRUCTION,
            Column("module", "category", "", "Kind of kernel: bfs or intersection."),
            _FIFO,
            Column("fill", "int64", "entry-cycles", "Entries held, summed over cycles and kernels."),
            Column("most", "uint16", "entries", "Most entries that one of them held in a cycle."),
        ),
        units=("module", "fifo"),
    ),
    Table(
        "instruction_banks",
        "A bank's accesses to an array in an instruction, where there were any.",
        (_INSTRUCTION, *_BANK, _ARRAY, *_BANK_ACCESSES),
    ),
    Table(
        "instruction_links",
        "A crossbar link of an AE in an instruction, where it took requests; only memories that have links.",
        (
            _INSTRUCTION,
            _ENGINE,
            _LINK,
            Column("reads", "uint32", "reads", "Reads that it took."),
            Column("writes", "uint32", "writes", "Writes that it took."),
        ),
    ),
    Table(
        "instruction_rows",
        "A bank in an instruction, where it opened rows; only memories whose banks have rows.",
        (_INSTRUCTION, *_BANK, Column("openings", "uint32", "rows", "Rows that it opened.")),
    ),
    Table(
        "instruction_latencies",
        "Reads of an instruction that took so many cycles, where there were any.",
        (
            _INSTRUCTION,
            Column(
                "latency",
                "uint16",
                "cycles",
                f"From a read to its response; {LONGEST_LATENCY} is that or more.",
                high=LONGEST_LATENCY,
            ),
            Column("reads", "uint32", "reads", "Such reads.", low=1),
        ),
    ),
)

_TABLES = {table.name: table for table in TABLES}


def table_of(name: str) -> Table:
    """Return a table; raises `KeyError` if there is none of this name."""
    return _TABLES[name]


def schema_of(name: str) -> "pa.Schema":
    """Return the Arrow schema of a table.

    Raises
    ------
    KeyError
        There is no table of this name.
    """
    import pyarrow as pa

    kinds = {"category": pa.dictionary(pa.int8(), pa.string())}
    columns = table_of(name).columns
    return pa.schema([(column.name, kinds.get(column.kind) or getattr(pa, column.kind)()) for column in columns])
