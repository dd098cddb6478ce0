"""Damaged and forged records: refused in one line that names the file, whoever opens them."""

import json
import os
import random
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec import to_builtins

from cyscc.host.analysis.explain.explanation import explanation
from cyscc.host.analysis.report.page import sections
from cyscc.host.output.documents import sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.progress import Progress
from cyscc.host.record.document import RECORD_SCHEMA, Document
from cyscc.host.record.parts import PARTS_FOLDER, SETTING, PartDocument, Reached, write_document
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import TABLES
from cyscc.host.record.writer import TableWriter
from cyscc.host.runs.rerun import Rerun, RerunSetting
from cyscc.sim.memory import parse_profile
from tests.record.synthetic import Shape, write_record
from tests.refusals import refused

SHAPE = Shape(levels=(20, 90, 60), interval=256)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_record(tmp_path_factory.mktemp("whole") / "record", SHAPE)


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return copytree(whole, tmp_path / "record")


def looked_at(folder: Path) -> None:
    """Look at all of a record: every table, its explanation, its page."""
    record = Record(folder)
    for table in TABLES:
        record.frame(table.name)
    explanation(record, record.select(), by="interval", top=3).document()
    sections([record])


def refusal(folder: Path) -> str:
    """Return the line by which a record is refused, without the folder's name."""
    with pytest.raises(InputError) as refused:
        looked_at(folder)
    text = str(refused.value)
    assert "\n" not in text
    return text.replace(f"{folder}/", "")


def test_flipped_bits_are_not_believed(folder: Path) -> None:
    numbers = random.Random(1)
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        for _ in range(2):
            damaged = bytearray(content)
            damaged[numbers.randrange(len(damaged))] ^= 1 << numbers.randrange(8)
            file.write_bytes(damaged)
            if file.suffix == ".json" and _same(damaged, content):
                continue
            assert refusal(folder).startswith(f"{file.name}: is "), file
        file.write_bytes(content)
    looked_at(folder)


def _same(damaged: bytearray, content: bytes) -> bool:
    """Whether damaged JSON has the same values."""
    try:
        return bool(json.loads(damaged) == json.loads(content))
    except ValueError:
        return False


def _piped(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (lambda file: file.unlink(), "is not there: the record is not complete"),
        (lambda file: file.write_bytes(b""), "is damaged: its digest is another"),
        (lambda file: file.write_bytes(file.read_bytes()[:-9]), "is damaged: its digest is another"),
        (
            lambda file: file.symlink_to(file.rename(file.with_suffix(".other"))),
            "is a link, which is not followed here",
        ),
        (_piped, "is no plain file"),
    ],
)
def test_files_that_are_not_what_was_written(damage: Callable[[Path], object], cause: str, folder: Path) -> None:
    damage(folder / "banks.parquet")
    assert refusal(folder) == f"banks.parquet: {cause}"


def test_a_table_of_another_run(folder: Path, tmp_path: Path) -> None:
    other = write_record(tmp_path / "other", Shape(levels=(20, 90, 61), interval=256))
    (folder / "fifos.parquet").write_bytes((other / "fifos.parquet").read_bytes())
    assert refusal(folder) == "fifos.parquet: is damaged: its digest is another"


def reseal(folder: Path, change: Callable[[dict[str, Any]], object] | None = None) -> None:
    """Change a record's document, and seal it again."""
    path = folder / "record.json"
    document = json.loads(path.read_text())
    if change is not None:
        change(document)
    path.write_text(json.dumps(sealed({name: value for name, value in document.items() if name != "sha256"})))


def forge(folder: Path, name: str, rows: pa.Table, *, told: bool = True) -> None:
    """Replace a table, with its digest and, if `told`, its number of rows."""
    path = folder / f"{name}.parquet"
    pq.write_table(rows, path)

    def change(document: dict[str, Any]) -> None:
        document["digests"][name] = sha256(path.read_bytes()).hexdigest()
        if told:
            document["tables"][name] = rows.num_rows

    reseal(folder, change)


def _set(*keys: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    return change


@pytest.mark.parametrize(
    "metadata",
    [
        b"{",
        b'{"index_columns": ["cycle"], "column_indexes": [], "columns": []}',
        b'{"index_columns": [], "column_indexes": [], "columns": [{"name": "cycle", "field_name": "cycle", '
        b'"pandas_type": "object", "numpy_type": "period[D]", "metadata": null}]}',
    ],
)
def test_what_a_table_tells_pandas_is_ignored(metadata: bytes, folder: Path) -> None:
    before = Record(folder).frame("kernels")
    forge(folder, "kernels", pq.read_table(folder / "kernels.parquet").replace_schema_metadata({b"pandas": metadata}))
    assert Record(folder).frame("kernels").equals(before)


def test_lone_surrogates_are_no_text(folder: Path) -> None:
    reseal(folder, lambda document: document.update({"version": "\ud800"}))
    assert refusal(folder).startswith("record.json: is not JSON: 'utf-8' codec can't encode character")


@pytest.mark.parametrize(
    ("option", "value", "cause"),
    [
        ("executor", "x", "executor must be compiled or amaranth, not 'x'"),
        ("source", "x", "source: 'x' is not an integer"),
    ],
)
def test_record_of_no_run_is_not_made_again(option: str, value: str, cause: str, folder: Path) -> None:
    document = Record(folder).document
    document["memory_profile"] = parse_profile(document["run"]["options"]["memory"]).describe()
    document["run"]["options"][option] = value
    with refused(InputError, f"{folder}: is the record of no run: {cause}"):
        Rerun(document, folder, RerunSetting(progress=Progress(quiet=True), threads=1))


FORGED = json.loads(Path(__file__).with_name("forged.json").read_text())
"""Values that a forged document has at some place, and the cause by which it is refused."""


@pytest.mark.parametrize("forged", FORGED, ids=lambda forged: forged["cause"])
def test_forged_documents(forged: dict[str, Any], folder: Path) -> None:
    reseal(folder, _set(*forged["at"], to=forged["value"]))
    assert forged["cause"] in refusal(folder)


def _with(column: str, value: Any, *, row: int = 0) -> Callable[[pa.Table], pa.Table]:
    def change(rows: pa.Table) -> pa.Table:
        values = rows[column].to_pylist()
        values[row] = value
        index = rows.column_names.index(column)
        return rows.set_column(index, rows.schema.field(index), pa.array(values).cast(rows.schema.field(index).type))

    return change


def _text(rows: pa.Table) -> pa.Table:
    return rows.set_column(0, "cycle", pa.array([str(value) for value in rows["cycle"].to_pylist()]))


@pytest.mark.parametrize(
    ("table", "change", "cause"),
    [
        ("kernels", lambda rows: rows.slice(1), "rows are missing, or not in order"),
        ("kernels", lambda rows: rows.take([1, 0, *range(2, rows.num_rows)]), "rows are missing, or not in order"),
        ("kernels", _text, "does not have the columns of its table"),
        ("kernels", _with("write", None), "write lacks values"),
        ("kernels", _with("write", 1 << 20), "the cycles of the causes do not add up"),
        ("kernels", _with("cycle", 1), "rows are missing, or not in order"),
        ("banks", _with("cycle", 1 << 40), "cycle goes from"),
        ("banks", _with("bank", 60_000), "bank goes from"),
        ("banks", _with("accesses", 0), "accesses goes from 0"),
        ("banks", _with("waiting", -1), "waiting goes from -1"),
        ("banks", lambda rows: rows.slice(0, 0), "its tables do not agree: bank"),
        ("links", _with("link", 255), "link goes from"),
        ("arrays", _with("array", "secrets"), "array has values that there are not"),
        ("fifos", _with("fifo", "secrets"), "fifo has values that there are not"),
        ("engines", _with("engine", 9), "engine goes from"),
        ("instructions", _with("instruction", 2), "instructions are missing, or not in order"),
        ("instructions", _with("start", 1 << 50), "instructions overlap, or end after the run"),
        ("instructions", _with("level", -1), "levels and attempts are not those of a run"),
        ("instructions", _with("source", 4999), "an iteration begins at two vertices"),
        ("instructions", _with("phase", "intersection"), "levels and attempts are not those of a run"),
        ("instruction_kernels", _with("instruction", 1000), "instruction goes from"),
        ("instruction_kernels", lambda rows: rows.slice(0, 1), "rows are missing, or not in order"),
        ("instruction_fifos", lambda rows: rows.slice(0, 1), "rows are missing, or not in order"),
        ("instruction_latencies", _with("latency", 2048), "latency goes from"),
    ],
)
def test_forged_tables(table: str, change: Callable[[pa.Table], pa.Table], cause: str, folder: Path) -> None:
    forge(folder, table, change(pq.read_table(folder / f"{table}.parquet")))
    assert cause in refusal(folder)


def test_more_rows_than_fit_into_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "arrays.parquet"
    rows = pq.read_table(path)
    forge(folder, "arrays", rows.slice(1), told=False)
    assert refusal(folder) == f"arrays.parquet: has {rows.num_rows - 1:,} rows, and the record says {rows.num_rows:,}"
    forge(folder, "arrays", rows)
    monkeypatch.setattr("cyscc.host.record.stored._BYTES", 1 << 50)
    assert "the rows of a record's table need about" in refusal(folder)


def test_the_published_schema_is_that_of_the_checks() -> None:
    path = Path(__file__).parents[2] / "host" / "record" / "record.schema.json"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:cyscc:record:{RECORD_SCHEMA}"}
    assert json.loads(path.read_text()) == head | msgspec.json.schema(Document)


def test_parts_of_another_run_stay(tmp_path: Path) -> None:
    """A run that goes on removes later parts, but only where the earlier ones are its own."""
    own = tmp_path / PARTS_FOLDER
    own.mkdir()
    seal = write_document(own / SETTING, {"run": "another"})
    for number in range(2):
        part = PartDocument(previous=seal, tables={}, reached=Reached())
        seal = write_document(own / f"{number}.json", to_builtins(part))
    files = sorted(own.iterdir())
    with refused(InputError, f"{tmp_path}: holds the parts of another run's record"):
        TableWriter(tmp_path, fifos=(), about={}, parts=1, seal="0" * 64)
    assert sorted(own.iterdir()) == files
