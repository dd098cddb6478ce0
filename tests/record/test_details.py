"""Records of a part of a run in detail: as the run's own record has it, with shorter intervals."""

from pathlib import Path

import pandas as pd
import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from tests.record.test_record import GRAPH

KEYS = ["cycle", "engine", "module", "kernel", "fifo", "controller", "bank", "link", "array"]


@pytest.fixture(autouse=True)
def graph(folder: Path) -> None:
    Path("g.txt").write_text(GRAPH)


def recorded(region: str, **options: object) -> tuple[Record, Record]:
    """Return the records of a run and of its region."""
    cyscc.scc(
        "g.txt",
        **{"config": "test", "memory": "hc2", "record": "run", "record_interval": 128} | options,  # type: ignore[arg-type]
        record_detail=region,
        record_detail_interval=16,
    )
    return Record("run"), Record("run/detail")


def summed(frame: pd.DataFrame, begin: int, first: int, end: int) -> pd.DataFrame:
    """Return the sums of whole intervals of 128 cycles."""
    frame = frame.assign(cycle=(frame["cycle"] + begin) // 128 * 128)
    frame = frame[(frame["cycle"] >= first) & (frame["cycle"] + 128 <= end)]
    keys = [name for name in KEYS if name in frame]
    frame = frame.astype({name: str for name in keys if frame[name].dtype == "category"})
    return frame.groupby(keys).agg({name: "max" if name == "most" else "sum" for name in frame if name not in keys})


@pytest.mark.parametrize("region", ["phase=backward", "650:1500"])
def test_detail_adds_up_to_the_record(region: str) -> None:
    whole, detail = recorded(region)
    assert detail.part is not None
    begin, end = detail.part
    first = -(-begin // 128) * 128
    for table in ("kernels", "fifos", "engines", "arrays", "links", "banks"):
        of_whole, of_detail = (summed(each.frame(table), at, first, end) for each, at in ((whole, 0), (detail, begin)))
        pd.testing.assert_frame_equal(of_detail, of_whole, check_dtype=False)
    every, own = whole.attempts, detail.attempts
    inside = every[every["start"].isin(own["start"] + begin)]
    assert own["cycles"].tolist() == inside["cycles"].tolist()
    assert len(own)
    for table in ("instruction_kernels", "instruction_banks", "instruction_links", "instruction_latencies"):
        rows = [
            each.of_instructions(table, of).drop(columns="instruction").reset_index(drop=True)
            for each, of in ((whole, inside), (detail, own))
        ]
        pd.testing.assert_frame_equal(*rows, check_dtype=False)
    assert detail.ending == f"the record is of cycles {begin:,} to {end - 1:,} of the run, and counts them from 0"
    with pytest.raises(InputError, match="is the record of a part of a run: name that of the whole run"):
        cyscc.replay("run/detail", 0)
    assert "counts them from 0" in str(cyscc.explain(detail))


def test_region_after_a_restart_and_one_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    Path("g.txt").write_text(GRAPH * 8)
    whole, detail = recorded("level=0", queue_slack=0)
    assert detail.part is not None
    row = whole.attempts[whole.attempts["attempt"] == whole.attempt].iloc[0]
    assert detail.part[0] == row["start"] // 16 * 16
    assert detail.attempts["cycles"].tolist() == [row["cycles"]]
    result = cyscc.bfs("g.txt", 0, config="test", record="other", record_detail="level=99")
    assert result.verified
    line = "other: there is no level=99 in the run: no level, iteration or phase fits"
    assert capfd.readouterr().err == f"cyscc: level=99 is not recorded in detail: {line}\n"
    assert not Path("other/detail").exists()
    assert main(["replay", "run", "--record-detail", "level=0", "--record-detail-interval", "16", "-o", "again"]) == 0
    begin, end = detail.part
    assert capfd.readouterr().out == f"again: cycles {begin:,} to {end - 1:,} in intervals of 16\n"
    assert Record("again").attempts["cycles"].tolist() == [row["cycles"]]
    assert main(["replay", "run", "--record-detail", "level=0", "--at", "5"]) == 2
