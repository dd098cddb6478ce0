"""Records, of whole runs and of parts in detail: what they hold, show and refuse, and what can be asked of them."""

import copy
import errno
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cyscc
from cyscc.host.analysis.report.page import sections
from cyscc.host.command_line.main import main
from cyscc.host.driver.search import LevelAccount
from cyscc.host.graph.generators import random_graph
from cyscc.host.interface.explain import explain
from cyscc.host.output.documents import read_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.record.parts import Reached
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import MODULES, TABLES
from cyscc.host.record.writer import RecordFolder, TableWriter
from cyscc.host.runs.recorder import RecorderState, RunRecorder
from cyscc.sim.executors import samples
from cyscc.sim.observation.causes import cause_named
from cyscc.sim.recording import RecordingState
from tests.host.analysis.report.pages import BFS, SCC, record_of
from tests.host.command_line.test_checkpointing import interrupt
from tests.record.checks import check_record, frames
from tests.record.synthetic import Shape

GRAPH = "".join(f"{v} {(v * 5 + step) % 40}\n" for v in range(40) for step in (1, 2, 7))


@pytest.fixture(autouse=True)
def graph_file(folder: Path) -> None:
    Path("g.txt").write_text(GRAPH)


def recorded(name: str, *arguments: str) -> Record:
    """Make a run that is recorded, and check the record."""
    assert main([*arguments, "--record", name, "--quiet"]) == 0
    return check_record(name)


def check_same(record: Record, other: Record) -> None:
    """Check that two records have the same tables."""
    theirs = frames(other)
    for name, rows in frames(record).items():
        pd.testing.assert_frame_equal(rows, theirs[name], obj=name)


@pytest.mark.parametrize("interval", ["16", pytest.param("100", marks=pytest.mark.long)])
def test_executors_record_the_same(interval: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ["scc", "g.txt", "--config", "test", "--record-interval", interval]
    record = recorded("one", *run, "--threads", "1")
    parts: list[int] = []
    flush = TableWriter.flush

    def flushed(self: TableWriter, reached: Reached, *, wait: bool = False) -> None:
        flush(self, reached, wait=wait)
        parts.append(self.parts)

    monkeypatch.setattr(TableWriter, "flush", flushed)
    monkeypatch.setattr("cyscc.host.runs.recorder._GATHERED", 1000)
    monkeypatch.setattr("cyscc.sim.recording._DRAINED", 32)
    check_same(record, recorded("two", *run, "--threads", "2"))
    assert parts == list(range(1, 1 + len(parts)))
    assert len(parts) > 3, "of many rows, some are written while the run goes on"
    if interval == "100":
        check_same(record, recorded("amaranth", *run, "--executor", "amaranth"))


def test_a_recorded_run_does_without_pandas() -> None:
    """Its import would take longer than a short run."""
    run = ["scc", "g.txt", "--config", "test", "--record", "record", "--quiet"]
    code = f"import sys; from cyscc.host.command_line.main import main; main({run!r}); print('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("memory", ["hbm2", "fixed:75", "stress:5"])
@pytest.mark.parametrize("command", ["scc", "bfs --source 3"])
def test_memories(memory: str, command: str) -> None:
    name, *options = command.split()
    record = recorded("record", name, "g.txt", *options, "--config", "test", "--memory", memory)
    assert record.interval == 1024


@pytest.mark.parametrize("config", ["hc2", "published", pytest.param("published-bfs-1ae", marks=pytest.mark.long)])
def test_whole_machines(config: str) -> None:
    assert main(["generate", "rmat", "--vertices", "4096", "--degree", "8", "--seed", "6", "-o", "r.npz"]) == 0
    record = recorded("record", "bfs", "r.npz", "--source", "0", "--config", config)
    assert record.frame("kernels")["write"].sum() > 4096


def test_restarts_are_told_apart() -> None:
    options = ["scc", "g.txt", "--config", "test", "--queue-slack", "0", "--record-interval", "50"]
    Path("g.txt").write_text(GRAPH * 8)
    record = recorded("record", *options)
    document = record.document
    assert document["result"]["retries"] > 0
    assert document["cycles"]["restarted"] > 0
    assert record.frame("instructions")["attempt"].max() == document["result"]["retries"]


def test_instructions_are_told_apart_alike_however_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cycles.txt").write_text("".join(f"{3 * n + v} {3 * n + (v + 1) % 3}\n" for n in range(40) for v in range(3)))
    run = ["scc", "cycles.txt", "--config", "test", "--record-interval", "4000"]
    record = recorded("as it is", *run)
    assert len(record.frame("instructions")) > 128
    for together in (1, 3):
        monkeypatch.setattr("cyscc.sim.recording._TOGETHER", together)
        check_same(record, recorded(str(together), *run))


def test_a_killed_run_has_the_record_of_one_that_was_not(capfd: pytest.CaptureFixture[str]) -> None:
    run = ["scc", "g.txt", "--config", "test", "--record-interval", "100"]
    whole = recorded("whole", *run)
    kept = ["--checkpoint", "kept", "--checkpoint-every", "1kcycles"]
    interrupt(*run, *kept, "--record", "parts")
    check_interrupted(Record("parts"), whole)
    # The next checkpoint is written while the registers are written for an instruction.
    interrupt("scc", "--resume", "kept", "--executor", "amaranth", "--checkpoint-every", "609cycles", after=1)
    start = whole.frame("instructions")["start"][6]
    assert start - 7 <= read_sealed(Path("kept", "checkpoint.json"))["about"]["cycle"] < start
    capfd.readouterr()
    assert main(["scc", "--resume", "kept", "--executor", "compiled", "--quiet"]) == 0
    assert capfd.readouterr().err == ""
    check_same(whole, check_record("parts"))
    assert sorted(os.listdir("parts")) == sorted(os.listdir("whole"))
    assert not Path("kept").exists()


def check_interrupted(record: Record, whole: Record) -> None:
    """Check that the record of an interrupted run has the beginning of the whole one, and says so."""
    end, cycles = record.interrupted, record.document["cycles"]
    assert end is not None
    assert 0 < end < whole.cycles
    assert whole.interrupted is None
    assert sum(cycles.values()) == 2 * cycles["total"] == 2 * end
    count = len(record.frame("instructions"))
    assert count > 1
    for table in TABLES:
        mine, theirs = record.frame(table.name), whole.frame(table.name)
        if table.name == "instructions":
            # What each search traversed is known at its end.
            mine, theirs = (rows.drop(columns=["edges", "duplicates"]) for rows in (mine, theirs))
        theirs = theirs[theirs["cycle"] < end] if "cycle" in theirs else theirs[theirs["instruction"] < count]
        pd.testing.assert_frame_equal(mine, theirs.reset_index(drop=True), obj=table.name)
    ending = f"the run was interrupted, and its record ends at cycle {end:,}"
    text = " ".join(str(explain(record)).split())
    assert ending in text
    assert f"{cycles['unfinished']:,} of instructions that are not complete in the record" in text
    facts = dict(sections([record])[-1].facts)
    assert facts["interrupted"] == [ending]
    assert "throughput" not in facts
    with pytest.raises(InputError, match=f"^parts: has no result: {ending}$"):
        _ = record.result


def test_parts_are_those_that_were_written(capfd: pytest.CaptureFixture[str]) -> None:
    run = ["scc", "g.txt", "--config", "test", "--record-interval", "100", "--record", "parts"]
    interrupt(*run, "--checkpoint", "kept", "--checkpoint-every", "1kcycles")
    table, document = Path("parts", "parts", "kernels-0.parquet"), Path("parts", "parts", "0.json")
    for path, damage, cause in (
        (table, lambda content: content[:-9] + content[-8:] + b"x", "is damaged: its digest is another"),
        (document, lambda content: content.replace(b'"rows": ', b'"rows": 1'), "is damaged: its digest is another"),
        (document, lambda _: Path("parts", "parts", "1.json").read_bytes(), "is the part of another record"),
    ):
        content = path.read_bytes()
        path.write_bytes(damage(content))
        assert refused("explain", "parts", capfd=capfd) == f"cyscc explain: {path}: {cause}"
        if path == document:
            assert refused("scc", "--resume", "kept", capfd=capfd) == f"cyscc scc: {path}: {cause}"
        path.write_bytes(content)
    document.unlink()
    assert refused("explain", "parts", capfd=capfd) == (
        f"cyscc explain: {document}: is not there: the record is damaged"
    )


def test_nothing_outside_of_the_folder_is_removed(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine", "0.json").write_text("{}")
    Path("linked").mkdir()
    Path("linked", "parts").symlink_to(Path("mine").absolute())
    Path("kept", "parts").mkdir(parents=True)
    Path("kept", "parts", "thesis.tex").write_text("a year of work")
    for folder, held in (("linked", "parts"), ("kept", "parts/thesis.tex")):
        assert refused("scc", "g.txt", "--config", "test", "--record", folder, capfd=capfd) == (
            f"cyscc scc: {folder}: is no folder of a record: it holds {held} (--record)"
        )
    assert Path("mine", "0.json").exists()
    assert Path("kept", "parts", "thesis.tex").exists()


def refused(*arguments: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the line by which a command line is refused."""
    capfd.readouterr()
    assert main([*arguments]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err.rstrip("\n")


def test_a_folder_in_use(capfd: pytest.CaptureFixture[str]) -> None:
    run = ["scc", "g.txt", "--config", "test"]
    with closing(RecordFolder(Path("mine too"), resumed=False)):
        message = "cyscc scc: mine too: is in use by another run (--record)"
        assert refused(*run, "--record", "mine too", capfd=capfd) == message


@pytest.mark.parametrize("name", ["\udcff", "s3:a"])
def test_names_that_are_no_text_or_look_like_addresses(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["bfs", "g.txt", "--source", "0", "--config", "test", "--record", f"{name}//b"]
    Path(name).mkdir()
    assert main([*command, "--quiet"]) == 0
    assert main(["explain", f"{name}//b", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")


def test_no_tables_are_left_of_a_run_that_fails(capfd: pytest.CaptureFixture[str]) -> None:
    run = ["scc", "g.txt", "--config", "test", "--cycle-limit", "500"]
    Path("old").mkdir()
    for folder in ("new", "old"):
        assert main([*run, "--record", folder]) == 3
        assert sorted(os.listdir(folder)) == ["failed.json", "last.fst", "last.gtkw", "last.sucl"]
    assert sorted(os.listdir()) == ["g.txt", "new", "old"]


def test_record_of_a_run_that_failed_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    run = ["scc", "g.txt", "--config", "test", "--record", "parts", "--record-interval", "64"]
    kept = ["--checkpoint", "kept", "--checkpoint-every", "500cycles"]
    assert main([*run, *kept, "--cycle-limit", "1200", "--quiet"]) == 3
    record = Record("parts")
    assert record.failed == "cycle limit of 1,200 reached"
    ending = f"the run failed: {record.failed}; its record ends at cycle {record.interrupted:,}"
    assert ending in " ".join(str(explain(record)).split())
    assert dict(sections([record])[-1].facts)["failed"] == [ending]
    # A smaller limit fails at once, and not later.
    assert main(["scc", "--resume", "kept", "--cycle-limit", "10", "--quiet"]) == 3
    again = Record("parts")
    assert again.failed == "cycle limit of 10 reached"
    capfd.readouterr()
    end = read_sealed(Path("parts", "failed.json"))["failure"]["cycle"]
    assert main(["replay", "parts", "--at", "error", "-o", "out.vcd"]) == 0
    assert capfd.readouterr().out.startswith(f"error is at cycle {end - 1:,}\n\nout.vcd: cycles {end - 1:,} to ")
    shutil.rmtree(Path("parts", "parts"))
    assert refused("explain", "parts", capfd=capfd) == (
        "cyscc explain: parts: holds no complete record: the run failed: cycle limit of 10 reached"
    )


@pytest.mark.parametrize("pushed", [[], [1]])
def test_rows_of_another_search_are_refused(pushed: list[int]) -> None:
    recorder = RunRecorder.__new__(RunRecorder)
    recorder.state = RecorderState(
        recording=RecordingState.__new__(RecordingState), rows=[{"pushed": each} for each in pushed]
    )
    with pytest.raises(InputError, match="the checkpoint has the record of another search"):
        recorder.end(lambda: LevelAccount(pushed=np.array([2]), edges=np.array([3])))


@pytest.mark.parametrize("name", ["../run.json", "kernels.parquet", "/etc/0.json"])
def test_files_of_a_checkpoint_are_those_of_parts(name: str) -> None:
    content = np.zeros(1, np.uint8)
    recording = RecordingState.__new__(RecordingState)
    RecorderState(recording=recording, files={"kernels-0.parquet": content, "run.json": content}).check()
    with pytest.raises(ValueError, match="the state of its record is impossible"):
        RecorderState(recording=recording, files={name: content}).check()


def test_records_say_what_ran() -> None:
    record = recorded("record", "bfs", "g.txt", "--source", "3", "--config", "test", "--json", "json")
    run = record.document["run"]
    assert (run["graph"], run["folder"], run["vertices"], run["edges"]) == ("g.txt", str(Path.cwd()), 40, 120)
    assert run["options"]["source"] == 3
    assert record.document["result"] == json.loads(Path("json").read_text())


def test_a_run_without_instructions(capfd: pytest.CaptureFixture[str]) -> None:
    Path("g.txt").write_text("0 1\n")
    record = recorded("none", "scc", "g.txt", "--config", "test")
    assert record.frame("instructions").empty
    for command in (["report", "none", "-o", "page.html"], ["explain", "none"]):
        message = f"cyscc {command[0]}: none: ran no instruction: there is nothing to explain"
        assert refused(*command, capfd=capfd) == message


def test_a_full_disk_ends_the_run_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = ["bfs", "g.txt", "--source", "3", "--config", "test", "--record", "record"]
    places = {0: "run.json", 1: r"\w+-0.parquet", len(TABLES): "0.json"}
    for written, place in places.items():
        left = [None] * written

        def sync(descriptor: int, left: list[None] = left) -> None:
            if not left:
                raise OSError(errno.ENOSPC, "No space left on device")
            left.pop()

        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", sync)
            line = refused(*run, capfd=capfd)
        assert re.fullmatch(f"cyscc bfs: record/parts/{place}: cannot be written: No space left on device", line)
        assert os.listdir() == ["g.txt"]


def test_without_verification_the_record_says_so() -> None:
    record = recorded("r", "bfs", "g.txt", "--source", "0", "--config", "test", "--no-verify")
    assert record.result["verified"] is None
    assert main(["report", "r", "-o", "r.html", "--quiet"]) == 0
    assert "not checked" in Path("r.html").read_text()


@pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
def test_the_stack_has_the_cycles_of_every_cause(shape: Shape) -> None:
    record = record_of(shape)
    answer = record.answer()
    causes = record.document["causes"]
    for row in answer.causes.to_dict("records"):
        assert {name: row[name] for name in causes[row["module"]]} == causes[row["module"]]
    shown = record._repr_html_()
    for title in (cause_named(name).title for name, cycles in causes["bfs"].items() if cycles > 0.01 * record.cycles):
        assert title in shown
    assert f"{record.result['cycles']['total']:,}" in shown


def test_what_a_record_names_is_text() -> None:
    record = copy.copy(record_of(BFS))
    record.document = copy.deepcopy(record.document)
    record.document["run"]["graph"] = "<b>&\n"
    record.folder = Path("<i>")
    shown = record._repr_html_()
    assert "<b>bfs of &lt;b&gt;&amp;\\n from 1 on test, memory hc2</b>" in shown
    assert "<i>" not in shown


def test_a_run_that_did_not_end_has_no_stack() -> None:
    record: Record = copy.copy(record_of(BFS))
    record.interrupted = 1000
    record.document = {name: value for name, value in record.document.items() if name not in ("causes", "result")}
    assert record.answer().causes.empty
    assert "the run was interrupted, and its record ends at cycle 1,000" in record._repr_html_()


def test_modules_are_those_of_the_samples() -> None:
    assert MODULES == samples.MODULES


@pytest.mark.parametrize("memory", ["ddr4", pytest.param("hbm2", marks=pytest.mark.long)])
def test_a_run_is_recorded_resumed_replayed_explained_and_tried(
    memory: str,
) -> None:
    cyscc.write_graph(random_graph(1 << 9, 6, seed=4), "graph.npz")
    run = ["scc", "graph.npz", "--config", "test", "--memory", memory]
    assert main([*run, "--record", "whole", "--quiet"]) == 0
    whole = check_record("whole")
    interrupt(*run, "--record", "parts", "--checkpoint", "kept", "--checkpoint-every", "2kcycles")
    assert not Path("parts", "record.json").exists()
    assert main(["scc", "--resume", "kept", "--quiet"]) == 0
    parts = check_record("parts")
    theirs = frames(parts)
    assert all(rows.equals(theirs[name]) for name, rows in frames(whole).items())

    detail = cyscc.replay("whole", record_detail="level=2", output="again").record
    assert isinstance(detail, Record)
    assert detail.frame("banks")["accesses"].sum() > 0

    assert len(cyscc.explain("whole", banks=True).document()["banks"]) > 0
    (tried,) = cyscc.what_if("whole", {"memory.t_rcd": 100}, folder="tried").document()["changes"]
    assert tried["change"] > 0.1


_KEYS = ["cycle", "engine", "module", "kernel", "fifo", "controller", "bank", "link", "array"]


def detailed(region: str, **options: object) -> tuple[Record, Record]:
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
    keys = [name for name in _KEYS if name in frame]
    frame = frame.astype({name: str for name in keys if frame[name].dtype == "category"})
    return frame.groupby(keys).agg({name: "max" if name == "most" else "sum" for name in frame if name not in keys})


@pytest.mark.parametrize("region", ["phase=backward", "650:1500"])
def test_detail_adds_up_to_the_record(region: str) -> None:
    whole, detail = detailed(region)
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
    whole, detail = detailed("level=0", queue_slack=0)
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
