"""Runs of the command line that are killed and resumed, and refusals."""

import itertools
import json
import os
import random
import re
import shlex
import signal
import subprocess
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.output.documents import sealed
from cyscc.host.record.reader import Record
from tests.host.command_line.conftest import interrupted
from tests.record.checks import frames
from tests.waiting import started, wait_until

SMALL = ["--config", "test", "--memory", "hc2"]
KEPT = ["--checkpoint", "kept", "--checkpoint-every", "1kcycles"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    steps = (1, 2, 7)
    Path("g.txt").write_text("".join(f"{v} {(v * 5 + step) % 40}\n" for v in range(40) for step in steps))


def interrupt(*arguments: str, after: int = 2, quiet: bool = True) -> None:
    """Make a run that ends after a number of checkpoints."""
    interrupted(*arguments, *(["--quiet"] if quiet else []), after=after)


def result(path: str) -> dict[str, Any]:
    """Return a result without what depends on the process."""
    document: dict[str, Any] = json.loads(Path(path).read_text())
    assert document["wall"].pop("simulated_cycles") == document["statistics"]["cycles"]["total"]
    del document["wall"], document["threads"], document["executor"]
    return document


def test_components_go_on(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scc", "g.txt", *SMALL, "--labels", "whole.txt", "--json", "whole", "--quiet"]) == 0
    interrupt("scc", "g.txt", *SMALL, *KEPT)
    capfd.readouterr()
    resume = ["scc", "--resume", "kept", "--executor", "amaranth", "--checkpoint-every", "100cycles"]
    interrupt(*resume, after=1, quiet=False)
    resumed, interrupted, command = capfd.readouterr().err.splitlines()
    assert re.fullmatch(r"cyscc: kept: the run goes on from cycle 2,\d{3} \(iteration 1, \w+, level \d\)", resumed)
    place = re.fullmatch(r"cyscc scc: interrupted; checkpoint in kept at (cycle 2,\d{3} \(.*\))", interrupted)
    assert place is not None
    assert command == f"go on with: cyscc {' '.join(resume)}"
    assert main(["scc", "--resume", "kept", "--executor", "compiled", "--labels", "labels.txt", "--json", "json"]) == 0
    assert capfd.readouterr().err == f"cyscc: kept: the run goes on from {place[1]}\n"
    assert result("json") == result("whole")
    assert Path("labels.txt").read_text() == Path("whole.txt").read_text()
    assert sorted(os.listdir()) == ["g.txt", "json", "labels.txt", "whole", "whole.txt"]


def test_an_undirected_search_goes_on() -> None:
    search = ("--source", "0", "--undirected", "--record")
    assert main(["bfs", "g.txt", *search, "seen", *SMALL, "--json", "whole", "--quiet"]) == 0
    interrupt("bfs", "g.txt", *search, "again", *SMALL, *KEPT, after=1)
    assert main(["bfs", "--resume", "kept", "--json", "json", "--quiet"]) == 0
    assert result("json") == result("whole")


def test_search_goes_on_in_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whenever a clock is looked at for a checkpoint, a thousand seconds have passed.
    clock = SimpleNamespace(perf_counter=partial(next, itertools.count(5000, 1000)))
    monkeypatch.setattr("cyscc.host.runs.checkpoints.run.time", clock)
    search = ["--source", "3", *SMALL, "--roofline", "--quiet"]
    assert main(["bfs", "g.txt", *search, "--json", "whole"]) == 0
    interrupt("bfs", "g.txt", *search, "--checkpoint", "kept", "--checkpoint-every", "300cycles")
    before = Path("kept", "checkpoint.json").read_bytes()
    assert json.loads(before)["about"]["seconds"] == 2000
    assert main(["bfs", "--resume", "kept", "--checkpoint", "next", "--roofline", "--json", "json", "--quiet"]) == 0
    assert result("json") == result("whole")
    assert 2000 < json.loads(Path("json").read_text())["wall"]["simulate"] < 3000
    assert Path("kept", "checkpoint.json").read_bytes() == before
    assert not Path("next").exists()
    assert main(["bfs", "--resume", "kept", "--json", "again", "--quiet"]) == 0
    assert result("again") == result("whole")


def test_run_is_taken_up_from_another_place() -> None:
    Path("machine.toml").write_text('preset = "test"\n')
    interrupt("scc", "g.txt", "--config", "machine.toml", *KEPT)
    Path("below").mkdir()
    os.chdir("below")
    assert main(["scc", "--resume", "../kept", "--json", "json", "--quiet"]) == 0
    assert json.loads(Path("json").read_text())["graph"]["file"] == str(Path("../g.txt").resolve())


def test_single_values_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    busy = ["--set", "memory.bank_busy=40"]
    search = ["bfs", "g.txt", "--source", "3", *SMALL, *busy]
    assert main([*search, "--json", "whole", "--quiet"]) == 0
    interrupt(*search, "--record", "record", "--checkpoint", "kept", "--checkpoint-every", "300cycles")
    capfd.readouterr()
    assert refused("bfs", "--resume", "kept", "--set", "memory.bank_busy=41", capfd=capfd) == (
        "cyscc bfs: kept: the checkpoint is of another run: --memory: bank_busy was 40, and is 41"
    )
    assert main(["bfs", "--resume", "kept", "--json", "json"]) == 0
    assert "test, memory hc2 (bank_busy=40), executor compiled" in capfd.readouterr().out
    assert result("json") == result("whole")
    record = json.loads(Path("record", "record.json").read_text())
    assert record["run"]["options"]["set"] == {"memory.bank_busy": 40}
    assert record["memory_profile"] == result("whole")["memory_profile"]


def test_run_that_goes_on_behind_its_waveforms(capfd: pytest.CaptureFixture[str]) -> None:
    interrupt("bfs", "g.txt", "--source", "3", *SMALL, "--checkpoint", "kept", "--checkpoint-every", "300cycles")
    cycle = json.loads(Path("kept", "checkpoint.json").read_text())["about"]["cycle"]
    capfd.readouterr()
    waves = ["--waves", "w.vcd", "--wave-window", f"5:{cycle - 1}"]
    assert main(["bfs", "--resume", "kept", *waves, "--quiet"]) == 0
    line = f"--wave-window ends at cycle {cycle - 1:,}, and the run goes on from {cycle:,}: w.vcd is not written"
    assert capfd.readouterr().err == f"cyscc: {line}\n"
    assert os.listdir() == ["g.txt"]


def refused(*arguments: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the line by which a command line is refused."""
    assert main([*arguments]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err.rstrip("\n")


def test_a_checkpoint_of_another_program(capfd: pytest.CaptureFixture[str]) -> None:
    interrupt("scc", "g.txt", *SMALL, *KEPT)
    capfd.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cyscc.host.runs.sources.sources_digest", lambda: "another")
        assert refused("scc", "--resume", "kept", capfd=capfd) == (
            "cyscc scc: kept: the checkpoint was made by another version of this program"
        )


def test_outputs_are_asked_for_until_they_are_written(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scc", "g.txt", *SMALL, "--labels", "whole.txt", "--json", "whole", "--quiet"]) == 0
    interrupt("scc", "g.txt", *SMALL, "--labels", "my labels.txt", "--json=json", *KEPT, quiet=False)
    *_, command = capfd.readouterr().err.splitlines()
    assert command == (
        "go on with: cyscc scc --resume kept g.txt --config test --memory hc2 --labels 'my labels.txt' --json=json "
        "--checkpoint-every 1kcycles"
    )
    # Interrupted again, it goes on with the same command.
    again = shlex.split(command)[4:]
    interrupt(*again, quiet=False)
    *_, repeated = capfd.readouterr().err.splitlines()
    assert repeated == command
    assert not Path("json").exists()
    for given, missing in ((["--no-verify"], "--labels, --json"), (["--json", "json"], "--labels")):
        assert main(["scc", "--resume", "kept", *given, "--quiet"]) == 0
        line = f"kept: begun with {missing}, not given now: the checkpoint stays, to be resumed with what is missing"
        assert capfd.readouterr().err == f"cyscc: {line}\n"
    assert result("json") == result("whole")
    assert main(["scc", "--resume", "kept", "--labels", "my labels.txt"]) == 0
    assert re.fullmatch(r"cyscc: kept: the run goes on from .*\n", capfd.readouterr().err)
    assert Path("my labels.txt").read_text() == Path("whole.txt").read_text()
    assert not Path("kept").exists()


def test_outputs_of_a_run_that_failed_are_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    search = ["bfs", "g.txt", "--source", "3", *SMALL, "--levels", "l.txt", "--live", "live", "--record", "record"]
    assert main([*search, "--roofline-plot", "r.svg", *KEPT, "--cycle-limit", "1200", "--quiet"]) == 3
    capfd.readouterr()
    document = json.loads(Path("kept", "checkpoint.json").read_text())
    assert document["about"]["outputs"] == ["--levels", "--roofline-plot", "--live"]
    assert "l.txt" not in str(document)
    # Somebody else may have written the checkpoint.
    for outputs, line in (
        (["--output"], "kept: is a checkpoint of a run that was asked for '--output'"),
        (["--labels\x1b"], "kept: is a checkpoint of a run that was asked for '--labels\\x1b'"),
        (5, "kept/checkpoint.json: is no manifest of a checkpoint: Expected `array`, got `int` - at `$.about.outputs`"),
        ([["--json"]], "kept/checkpoint.json: is no manifest of a checkpoint: Expected `str`, got `array` - at "
         "`$.about.outputs[0]`"),
    ):  # fmt: skip
        about = {**document["about"], "outputs": outputs}
        Path("kept", "checkpoint.json").write_text(json.dumps(sealed({**document, "about": about})))
        assert refused("bfs", "--resume", "kept", capfd=capfd) == f"cyscc bfs: {line}"
    for name, kind in (
        ("\0", "is a checkpoint of a run whose graph is "),
        ("\ud800", "checkpoint.json: is not JSON: "),
    ):
        about = json.loads(json.dumps(document["about"]).replace('"g.txt"', json.dumps(name)))
        Path("kept", "checkpoint.json").write_text(json.dumps(sealed({**document, "about": about})))
        assert kind in refused("bfs", "--resume", "kept", capfd=capfd)
    Path("kept", "checkpoint.json").write_text(json.dumps(document))
    limit = ["--cycle-limit", "1e6", "--quiet"]
    assert main(["bfs", "--resume", "kept", "--levels", "l.txt", "--live", "-", *limit]) == 0
    assert "begun with --roofline-plot, not given now" in capfd.readouterr().err
    assert main(["bfs", "--resume", "kept", "--roofline-plot", "r.svg", *limit]) == 0
    assert sorted(os.listdir()) == ["g.txt", "l.txt", "live", "r.svg", "record"]
    assert sorted(os.listdir("record"))[-2:] == ["links.parquet", "record.json"]


@pytest.mark.parametrize(("command", "signal"), [("scc", "kill"), ("bfs --source 3", "interrupt")])
def test_run_that_ends_between_its_record_and_its_outputs(
    command: str, signal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *search = command.split()
    run = [name, "g.txt", *search, *SMALL, "--record-interval", "100", "--quiet", "--json", "json"]
    assert main([*run, "--record", "whole"]) == 0
    expected = result("json")
    Path("json").unlink()

    def end(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cyscc.host.command_line.commands._write", end)
        if signal == "kill":
            # Nothing is cleared up.
            patch.setattr("cyscc.host.record.writer.RecordFolder.clear", lambda *_, **__: None)
        every = ["--checkpoint", "kept", "--checkpoint-every", "300cycles"]
        assert main([*run, "--record", "record", *every]) == 130
    assert Record("record").result == Record("whole").result | {"wall": Record("record").result["wall"]}
    interrupt(name, "--resume", "kept", "--checkpoint-every", "1cycles", after=1)
    # It is that of a finished run until its tables are written anew.
    assert Record("record").interrupted is None
    with monkeypatch.context() as patch:
        patch.setattr("cyscc.host.record.writer.file_digest", end)
        assert main([name, "--resume", "kept", "--checkpoint-every", "1h", "--quiet"]) == 130
    assert Record("record").interrupted
    assert main([name, "--resume", "kept", "--checkpoint-every", "1h", "--json", "json", "--quiet"]) == 0
    assert result("json") == expected
    for table, rows in frames(Record("whole")).items():
        assert frames(Record("record"))[table].equals(rows), table
    assert sorted(os.listdir()) == ["g.txt", "json", "record", "whole"]
    assert sorted(os.listdir("record")) == sorted(os.listdir("whole"))


def test_lost_record_and_none(capfd: pytest.CaptureFixture[str]) -> None:
    search = ["bfs", "g.txt", "--source", "3", *SMALL, "--checkpoint", "kept", "--checkpoint-every", "300cycles"]
    interrupt(*search, "--record", "record")
    Path("record").rename("moved")
    capfd.readouterr()
    again = ["bfs", "--resume", "kept"]
    assert refused(*again, capfd=capfd) == (
        "cyscc bfs: kept: the run was recorded to record, which holds no part of its record: name its folder: "
        "--record DIR"
    )
    assert refused(*again, "--record", "new", capfd=capfd) == ("cyscc bfs: new: No such file or directory (--record)")
    assert main([*again, "--record", "moved", "--quiet"]) == 0
    assert sorted(os.listdir()) == ["g.txt", "moved"]
    interrupt(*search)
    capfd.readouterr()
    assert refused(*again, "--record", "new", capfd=capfd) == (
        "cyscc bfs: kept: the run was not recorded from its beginning (--record)"
    )


@pytest.mark.parametrize(
    ("outputs", "line"),
    [
        ("--record kept/r", "kept/r: is in the folder of --checkpoint, which holds nothing else (--record)"),
        ("--json there/../kept/j", "there/../kept/j: its directory does not exist (--json)"),
        ("--labels link/l", "link/l: its directory does not exist (--labels)"),
        ("--record there --waves there/w.fst", "there/w.fst: is in the folder of --record, which holds nothing else"),
        ("--record there --live there/l", "there/l: is in the folder of --record, which holds nothing else (--live)"),
        ("--record link", "kept: is in the folder of --record, which holds nothing else (--checkpoint)"),
        ("--record old/r", "old/r: is in DIR/old, which holds a record and nothing else (--record)"),
        ("--json old/j", "old/j: is in DIR/old, which holds a record and nothing else (--json)"),
    ],
)
def test_no_output_lies_where_a_run_is_taken_up(
    outputs: str, line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("there").mkdir()
    Path("link").symlink_to("kept")
    Path("old", "parts").mkdir(parents=True)
    Path("old", "parts", "run.json").write_text("{}")
    found = refused("scc", "g.txt", *SMALL, *KEPT, *outputs.split(), capfd=capfd)
    assert found.startswith(f"cyscc scc: {line.replace('DIR', str(tmp_path))}")
    assert sorted(os.listdir()) == ["g.txt", "link", "old", "there"]
    assert os.listdir("there") == []


def test_kill_and_resume() -> None:
    assert main(["scc", "g.txt", *SMALL, "--json", "whole", "--quiet"]) == 0
    run = started(
        *("scc", "g.txt", *SMALL, "--checkpoint", "kept", "--checkpoint-every", "20cycles", "--json", "json"),
        stderr=subprocess.DEVNULL,
    )
    wait_until(Path("kept", "checkpoint.json").exists, run)
    run.kill()
    assert run.wait() == -signal.SIGKILL
    assert not Path("json").exists()
    assert main(["scc", "--resume", "kept", "--checkpoint-every", "1h", "--json", "json", "--quiet"]) == 0
    assert result("json") == result("whole")


@pytest.mark.long
def test_fifty_kills(capfd: pytest.CaptureFixture[str]) -> None:
    """A run of a minute, with a checkpoint every five seconds, is killed at random moments."""
    Path("ring.txt").write_text("".join(f"{v} {(v + 1) % 2**16}\n" for v in range(2**16)))
    assert main(["scc", "ring.txt", "--json", "whole", "--labels", "whole.txt", "--quiet"]) == 0
    chance = random.Random(1)
    kept = Path("kept", "checkpoint.json")
    lost: list[float] = []
    while len(lost) < 50:
        begin = ["ring.txt", "--checkpoint", "kept", "--checkpoint-every", "5s"]
        run = started(
            *("scc", *(["--resume", "kept"] if kept.exists() else begin), "--json", "json", "--labels", "labels.txt"),
            stderr=subprocess.DEVNULL,
        )
        begun = time.time()
        try:
            status = run.wait(timeout=chance.uniform(0, 25))
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
            lost.append(time.time() - max(kept.stat().st_mtime if kept.exists() else 0, begun))
            continue
        assert status == 0
        assert result("json") == result("whole")
        assert Path("labels.txt").read_text() == Path("whole.txt").read_text()
        Path("json").unlink()
    # What it takes to begin counts as well.
    assert max(lost) < 10
