"""Rows as a table."""

import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa

from cyscc.host.experiments.sweep.rows import rows_of, table_of
from cyscc.sim.errors import SimulationError
from tests.conftest import ROOT


def test_rows_have_results_and_failures() -> None:
    results = {"search": {"row": {"cycles": 99}}, "components": {"row": {"cycles": 7}}}
    names = ("search", "components", "search", "lost")
    points = [SimpleNamespace(values={"n": n}, point=SimpleNamespace(digest=name)) for n, name in enumerate(names)]
    plan = SimpleNamespace(failures={"lost": SimulationError("it broke")})
    rows = rows_of(SimpleNamespace(points=points), plan, results)  # type: ignore[arg-type]
    done = {"status": "done", "reason": ""}
    assert rows == [
        {"n": 0, "point": "search", **done, "cycles": 99},
        {"n": 1, "point": "components", **done, "cycles": 7},
        {"n": 2, "point": "search", **done, "cycles": 99},
        {"n": 3, "point": "lost", "status": "failed", "reason": "it broke"},
    ]


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
