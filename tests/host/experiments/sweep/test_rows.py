"""Rows as a table."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from cyscc.host.experiments.sweep.batch import Swept
from cyscc.host.experiments.sweep.rows import rows_of, table_of
from cyscc.host.output.errors import InputError
from cyscc.host.record.tables import MODULES
from cyscc.sim.observation.causes import CAUSES
from tests.conftest import ROOT
from tests.refusals import refused


def document_of(command: str, **found: Any) -> dict[str, Any]:
    """Return a record's document whose numbers all differ."""
    numbers = {"seconds": 0.5, "gteps": 0.25, "edges_traversed": 77, "retries": 2, "wall": {"simulate": 1.5}}
    return {
        "command": command,
        "run": {"vertices": 10, "edges": 20, "options": {"source": 3} if command == "bfs" else {}},
        "result": {"cycles": {"total": 99}, **numbers, **found},
        "causes": {module: {cause.name: n for n, cause in enumerate(CAUSES)} for module in MODULES},
    }


def test_rows_have_the_results_of_the_records() -> None:
    documents = {
        "search": document_of("bfs", levels=[{}, {}, {}], reached=8, duplicates=4),
        "components": document_of("scc", components={"count": 6, "largest": 5}, iterations=9),
    }
    read: list[str] = []

    def record(point: SimpleNamespace) -> SimpleNamespace:
        read.append(point.digest)
        document = documents[point.digest]
        return SimpleNamespace(document=document, result=document["result"])

    names = ("search", "components", "search", "lost")
    points = [SimpleNamespace(values={"n": n}, point=SimpleNamespace(digest=name)) for n, name in enumerate(names)]
    study, folder = SimpleNamespace(points=points), SimpleNamespace(record=record)
    search, components, again, lost = rows_of(study, folder, Swept(found=0, made=2, failures={"lost": "it broke"}))  # type: ignore[arg-type]
    assert read == ["search", "components"]
    assert again == {**search, "n": 2}
    assert lost == {"n": 3, "point": "lost", "status": "failed", "reason": "it broke"}
    both = {"status": "done", "reason": "", "vertices": 10, "edges": 20, "cycles": 99, "seconds": 0.5, "gteps": 0.25}
    both |= {"edges_traversed": 77, "retries": 2, "wall_seconds": 1.5}
    total = sum(range(len(CAUSES)))
    shares = {module: {f"{module}.{cause.name}": n / total for n, cause in enumerate(CAUSES)} for module in MODULES}
    own = {"n": 0, "point": "search", "source": 3, "levels": 3, "reached": 8, "duplicates": 4}
    assert search == {**both, **own, **shares["bfs"]}, "a search has no intersection"
    own = {"n": 1, "point": "components", "source": None, "components": 6, "iterations": 9}
    assert components == {**both, **own, **shares["bfs"], **shares["intersection"]}


def test_records_without_a_number_are_refused() -> None:
    document = document_of("bfs", levels=[], reached=8, duplicates=4, wall={})
    record = SimpleNamespace(folder="here", document=document, result=document["result"])
    study = SimpleNamespace(points=[SimpleNamespace(values={}, point=SimpleNamespace(digest="it"))])
    message = "here: has not the result of a point: Object missing required field `simulate` - at `$.wall`"
    with refused(InputError, message):
        rows_of(study, SimpleNamespace(record=lambda _: record), Swept(found=1, made=0, failures={}))  # type: ignore[arg-type]


def test_columns_have_the_type_of_their_values() -> None:
    rows = [
        {"a": 1, "b": "2020-01-01", "c": True, "d": 1, "e": 2, "f": None, "seed": 2**63},
        {"a": 2, "b": "ü\n", "c": False, "d": 0.5, "e": "\udcff", "f": None, "seed": 0, "late": 3},
    ]
    table = table_of(rows)
    kinds = [pa.int64(), pa.string(), pa.bool_(), pa.float64(), pa.string(), pa.string(), pa.string(), pa.int64()]
    assert [field.type for field in table.schema] == kinds
    assert table.to_pylist() == [
        {"a": 1, "b": "2020-01-01", "c": True, "d": 1.0, "e": "2", "f": None, "seed": str(2**63), "late": None},
        {"a": 2, "b": "ü\n", "c": False, "d": 0.5, "e": "\\udcff", "f": None, "seed": "0", "late": 3},
    ]


def test_a_table_needs_no_pandas() -> None:
    code = (
        "import sys; from cyscc.host.experiments.sweep.rows import table_of; "
        "table_of([{'a': 1}]); assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
