"""The synthetic record is consistent: its numbers add up as those of real records do."""

from pathlib import Path

import numpy as np
import pytest

from cyscc.host.record.reader import Record
from cyscc.host.record.tables import TABLES
from cyscc.sim.observation.causes import CAUSES
from tests.record.synthetic import Shape, write_record

NAMES = [cause.name for cause in CAUSES]


@pytest.mark.parametrize(
    "shape",
    [
        Shape(),
        Shape(memory="fixed:75", interval=4096),
        Shape(iterations=4, levels=(60, 300, 90), restarted=True, config="published"),
    ],
)
def test_a_record_adds_up(shape: Shape, tmp_path: Path) -> None:
    record = Record(write_record(tmp_path / "record", shape))
    for table in TABLES:
        found = record.table(table.name)
        assert found.column_names == [column.name for column in table.columns]
        assert found.num_rows == record.document["tables"][table.name]
    kernels = record.frame("kernels")
    machine = record.document["machine"]
    for module, causes in record.document["causes"].items():
        count = machine["engines"] * machine["kernels"][module]
        assert sum(causes.values()) == count * record.cycles
        assert kernels[kernels["module"] == module][NAMES].sum().to_dict() == causes
    ends = np.minimum(kernels["cycle"] + record.interval, record.cycles)
    assert (kernels[NAMES].sum(axis=1) == ends - kernels["cycle"]).all()

    instructions = record.frame("instructions")
    own = record.frame("instruction_kernels").merge(instructions[["instruction", "cycles"]], on="instruction")
    assert (own[NAMES].sum(axis=1) == own["cycles"]).all()
    assert (own.groupby("instruction")["done"].max() == instructions.set_index("instruction")["working"]).all()
    cycles = record.document["cycles"]
    last = instructions["attempt"] == instructions["attempt"].max()
    assert instructions["cycles"][last].sum() == cycles["instructions"]
    assert instructions["cycles"][~last].sum() == cycles["restarted"]
