"""The rows of a sweep: a point each, with what its record says."""

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.record.reader import Record
from host.record.tables import MODULES
from host.sweep.folder import SweepFolder
from host.sweep.running import Swept
from host.sweep.study import Study, value_text
from sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DONE", "FAILED", "Row", "columns_of", "rows_of", "shares", "table_of", "write_table"]

Row = dict[str, Any]
"""A point: its parameters by name, ``point``, ``status``, ``reason``, and what its record says."""

DONE, FAILED = "done", "failed"
"""Values of ``status``."""


def rows_of(study: Study, folder: SweepFolder, swept: Swept) -> list[Row]:
    """Return a row for each point of a study, in its order.

    Raises
    ------
    InputError
        A record cannot be read.
    """
    known: dict[str, Row] = {}
    rows = []
    for each in study.points:
        point = each.point
        failure = swept.failures.get(point.digest)
        if failure is None and point.digest not in known:
            known[point.digest] = _result(Record(folder.of(point)))
        result = known[point.digest] if failure is None else {}
        status = {"point": point.digest, "status": DONE if failure is None else FAILED, "reason": failure or ""}
        rows.append({**each.values, **status, **result})
    return rows


def _result(record: Record) -> Row:
    """Return what a record says in numbers."""
    document = record.document
    result, run = document["result"], document["run"]
    row: Row = {
        "vertices": run["vertices"],
        "edges": run["edges"],
        "source": run["options"]["source"],
        "cycles": result["cycles"]["total"],
        "seconds": result["seconds"],
        "gteps": result["gteps"],
        "edges_traversed": result["edges_traversed"],
        "retries": result["retries"],
        "wall_seconds": result["wall"]["simulate"],
    }
    if document["command"] == "scc":
        row |= {"components": result["components"]["count"], "iterations": result["iterations"]}
    else:
        row |= {"levels": len(result["levels"]), "reached": result["reached"], "duplicates": result["duplicates"]}
    for module in MODULES:
        cycles = document["causes"].get(module, {})
        total = sum(cycles.values())
        if total and (module != "intersection" or document["command"] == "scc"):
            row |= {f"{module}.{cause.name}": cycles[cause.name] / total for cause in CAUSES}
    return row


def shares(row: Mapping[str, Any], module: str) -> dict[str, float]:
    """Return the share of each cause in the cycles of a kind of kernels; nothing where the row has none."""
    names = {cause.name: f"{module}.{cause.name}" for cause in CAUSES}
    return {name: row[column] for name, column in names.items() if row.get(column) is not None}


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of all columns, in the order in which rows have them."""
    return list(dict.fromkeys(name for row in rows for name in row))


def table_of(rows: list[Row]) -> "pa.Table":
    """Return the rows as a table; a column of values of several kinds is one of texts."""
    import pyarrow as pa
    from pyarrow.json import ParseOptions, read_json

    names = columns_of(rows)
    kinds = {name: _kind([row.get(name) for row in rows]) for name in names}
    lines = (
        json.dumps({name: _cell(row.get(name), kinds[name]) for name in names}, ensure_ascii=False) for row in rows
    )
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in kinds.items()])
    # By way of JSON, as `pyarrow.array` imports pandas, which may take longer than the rest of the sweep.
    return read_json(io.BytesIO("\n".join(lines).encode()), parse_options=ParseOptions(explicit_schema=schema))


def _kind(values: list[Any]) -> str:
    """Return the type of a column as Arrow calls it."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "bool_"
    if kinds == {int}:
        return "int64" if all(value is None or value < 1 << 63 for value in values) else "string"
    return "float64" if kinds and kinds <= {int, float} else "string"


def _cell(value: Any, kind: str) -> Any:
    return value_text(value) if kind == "string" and value is not None else value


def write_table(rows: list[Row], path: Path) -> None:
    """Write the rows as Parquet.

    Raises
    ------
    InputError
        The file could not be written.
    """
    import pyarrow.parquet as pq

    from host.output import open_output

    with open_output(str(path)) as file:
        pq.write_table(table_of(rows), file)
