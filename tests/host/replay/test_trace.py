"""Traces of windows, read back: every cycle of the kernels and every access, as replays of the run collect them."""

from pathlib import Path

import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher
from cyscc.host.replay.spells import WaitWatcher
from cyscc.sim.observation.causes import CAUSES
from tests.host.analysis.test_trace import ReadBack
from tests.host.replay.conftest import Recorded, replayed

GRAPH = "".join(f"{v + 100} {(v * 5 + step) % 40 + 100}\n" for v in range(40) for step in (1, 2, 7))
FIRST, LAST = 800, 1299
TITLES = {cause.name: cause.title for cause in CAUSES}


@pytest.fixture(scope="module")
def record(recorded: Recorded) -> Record:
    return recorded(graph=GRAPH)


@pytest.fixture(scope="module")
def trace(record: Record) -> ReadBack:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(record.folder.parent)
        window = ("--at", str(FIRST + 100), "--before", "100", "--cycles", str(LAST + 1 - FIRST))
        assert main(["replay", "seen", *window, "--trace", "window.pftrace"]) == 0
        assert not list(Path.cwd().glob("*.fst")), "waveforms only with -o"
    return ReadBack(record.folder.parent / "window.pftrace")


def test_slices_are_causes_and_accesses(record: Record, trace: ReadBack) -> None:
    waits, accesses = WaitWatcher(1, windows=[(FIRST, LAST)]), AccessWatcher(window=(FIRST, LAST), completions=True)
    replayed(record).watch([waits, accesses], last=LAST, aim="")
    expected = {}
    for row in waits.frame().to_dict("records"):
        begin, end = max(row["begin"], FIRST), min(row["begin"] + row["cycles"], LAST + 1)
        expected[row["engine"], row["module"], row["kernel"], begin] = TITLES[row["cause"]], end
    reads = {
        (row["engine"], row["module"], row["kernel"], row["process"], row["cycle"], row["answered"], row["address"])
        for row in accesses.frame(record).to_dict("records")
    }
    found, seen = {}, []
    for path, slices in trace.slices.items():
        if len(path) != 3:
            continue
        engine, module = int(path[0].split()[1].rstrip(":")), path[0].split()[2]
        number = int(path[1].split()[-1])
        for name, begin, end, notes in slices:
            if path[2] == "cause of each cycle":
                found[engine, module, number, begin] = name, end
            else:
                process, _, kind = path[2].partition(": ")
                assert kind in ("reads", "writes")
                assert end - begin == notes["latency"]
                seen.append((engine, module, number, process, begin, end, int(notes["address"], 16)))
                if notes["array"] in ("words", "colours", "neighbours"):
                    assert 100 <= notes["vertex"] < 140, "as the file names them"
                    assert name == f"{notes['array']} {notes['vertex']}"
    assert found == expected
    assert set(seen) == reads
    assert len(seen) == len(reads)


def test_instructions_and_counters_are_cut_at_the_window(record: Record, trace: ReadBack) -> None:
    rows = record.attempts
    inside = rows[(rows["end"] > FIRST) & (rows["start"] <= LAST)]
    levels = [(begin, end) for _, begin, end, _ in trace.slices["levels",]]
    assert levels == [(max(row.start, FIRST), min(row.end, LAST + 1)) for row in inside.itertuples()]
    for steps in trace.numbers.values():
        assert all(FIRST <= cycle <= LAST + 1 for cycle, _ in steps)


def test_python_and_messages(
    record: Record, trace: ReadBack, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(record.folder.parent)
    cyscc.replay("seen", FIRST + 100, trace="own.pftrace", before=100, cycles=LAST + 1 - FIRST)
    assert Path("own.pftrace").read_bytes() == Path("window.pftrace").read_bytes()
    assert main(["replay", "seen", "--at", "level=1", "--cycles", "50", "--trace", "level.pftrace"]) == 0
    start = int(record.attempts.query("level == 1")["start"].iloc[0])
    out, err = capfd.readouterr()
    assert err == ""
    assert out.startswith(f"level=1 is at cycle {start:,}\n\nlevel.pftrace: cycles {start:,} to {start + 49:,}, ")
