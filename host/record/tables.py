"""The tables of a record, and their rows for parts of a machine; `tables.toml` alone defines columns and units."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

# Values of columns, and so of this module, too.
from cyscc.host.specification.place import MODULES as MODULES
from cyscc.host.specification.place import PHASES as PHASES
from cyscc.sim.arrays import ArrayKind
from cyscc.sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pyarrow as pa


ARRAYS = tuple(kind.name.lower() for kind in ArrayKind)
"""Arrays that an access can go to."""

CATEGORIES = {"module": MODULES, "phase": PHASES, "array": ARRAYS}
"""Values of the category columns that are equal in all records; the names of FIFOs depend on the machine."""

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


_FILE = Path(__file__).with_name("tables.toml")
_CAUSES = {"causes": [Column(cause.name, "uint32", "cycles", cause.about) for cause in CAUSES]}


class _Told(msgspec.Struct, forbid_unknown_fields=True):
    """A table as the file has it."""

    name: str
    about: str
    columns: list[str | Column]
    units: tuple[str, ...] = ()


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The file of the tables."""

    common: list[Column]
    tables: list[_Told]


def _tables() -> Iterator[Table]:
    """Yield the tables, their common columns filled in."""
    read = msgspec.toml.decode(_FILE.read_bytes(), type=_File)
    common = {column.name: [column] for column in read.common} | _CAUSES
    for told in read.tables:
        columns = [common[each] if isinstance(each, str) else [each] for each in told.columns]
        yield Table(told.name, told.about, tuple(chain.from_iterable(columns)), told.units)


TABLES = tuple(_tables())
"""All tables, as `tables.toml` has them."""

_TABLES = {table.name: table for table in TABLES}

LONGEST_LATENCY = _TABLES["instruction_latencies"].columns[1].high
"""Last bin of a latency histogram; it holds all reads of this latency and above."""


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


class Units:
    """The parts of a machine, as the columns that name them in the rows of a table, in the order of these rows.

    Parameters
    ----------
    engines : int
        Number of AEs.
    kernels : mapping of str to int
        Kernels of an AE by module.
    fifos : mapping of str to sequence of str
        Names of the FIFOs of a kernel by module.

    Attributes
    ----------
    fifos : tuple of str
        Names of all FIFOs; a FIFO's index is its category code.
    """

    def __init__(self, engines: int, kernels: Mapping[str, int], fifos: Mapping[str, Sequence[str]]) -> None:
        self.fifos = tuple(dict.fromkeys(name for own in fifos.values() for name in own))
        codes = {module: [self.fifos.index(name) for name in own] for module, own in fifos.items()}
        modules = list(enumerate(MODULES))
        every = [
            (engine, number, kernel)
            for engine in range(engines)
            for number, module in modules
            for kernel in range(kernels[module])
        ]
        rows: dict[tuple[str, ...], list[tuple[int, ...]]] = {
            ("engine",): [(engine,) for engine in range(engines)],
            ("engine", "module", "kernel"): [*every],
            ("engine", "module", "kernel", "fifo"): [
                (*kernel, fifo) for kernel in every for fifo in codes[MODULES[kernel[1]]]
            ],
            ("module", "fifo"): [(number, fifo) for number, module in modules for fifo in codes[module]],
        }
        self._rows = {names: np.array(found, np.uint8).reshape(-1, len(names)) for names, found in rows.items()}

    def of(self, name: str, module: str | None = None) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of the parts that a table has rows of, or of those of a module; categories as codes."""
        table = table_of(name)
        kinds = {column.name: "int8" if column.kind == "category" else column.kind for column in table.columns}
        rows = self._rows[table.units]
        if module is not None:
            rows = rows[rows[:, table.units.index("module")] == MODULES.index(module)]
        return {unit: values.astype(kinds[unit]) for unit, values in zip(table.units, rows.T, strict=True)}
