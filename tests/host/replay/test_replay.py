"""Replays: the same run, the exact cycle of an event, refusals, and the files of failed runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from cyscc.host.command_line.main import main
from cyscc.host.output.documents import read_sealed, write_sealed
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import Record
from cyscc.host.replay.spells import RUNNING, WaitWatcher
from cyscc.host.specification.place import Place
from tests.host.replay.conftest import GRAPH
from tests.host.replay.conftest import replayed as replayed_run
from tests.sim.observation.waves.reading import Recording, recording, unread

RUN = ("scc", "g.txt", "--config", "test")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a record and all waveforms of a run, and records of others."""
    path = tmp_path_factory.mktemp("replay")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        Path("g.txt").write_text(GRAPH)
        interval = ("--record-interval", "64", "--quiet")
        assert main([*RUN, "--record", "seen", *interval, "--waves", "whole.fst"]) == 0
        Path("many.txt").write_text(GRAPH * 8)
        many = ("scc", "many.txt", "--config", "test", "--queue-slack", "0")
        assert main([*many, "--record", "restarted", *interval]) == 0
        Path("two.txt").write_text("0 1\n")
        assert main(["scc", "two.txt", "--config", "test", "--record", "trimmed", *interval]) == 0
    return path


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = set(folder.iterdir())
    monkeypatch.chdir(folder)
    yield
    for path in set(folder.iterdir()) - before:
        if path.is_file():
            path.unlink()


@pytest.fixture(scope="module")
def whole(folder: Path) -> Recording:
    return recording(folder / "whole.fst")


def replayed(record: str, at: str, *options: str, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines that a replay prints; the first one is as long as it is, the last ones are of files."""
    capfd.readouterr()
    assert main(["replay", record, "--at", at, "-o", "out.vcd", *options]) == 0
    printed = capfd.readouterr()
    assert printed.err == ""
    *title, files = printed.out.strip().split("\n\n")
    return [*(" ".join(lines.split()) for lines in title), *files.splitlines()]


def cycle_of(record: str, at: str, capfd: pytest.CaptureFixture[str]) -> int:
    """Return the cycle of an event, which is followed by its kernel and length if it has any."""
    first, second, third = replayed(record, at, "--cycles", "2", capfd=capfd)
    said, _, cycle = first.rpartition(" is at cycle ")
    assert said == str(Place.parse(at))
    found = int(cycle.partition(":")[0].replace(",", ""))
    assert second.startswith(f"out.vcd: cycles {found:,} to {found + 1:,}, ")
    assert third == "open it with: gtkwave out.vcd out.gtkw   or: surfer -c out.sucl out.vcd"
    view = Path("out.gtkw").read_text()
    assert f" {found} -1 " in view, "the marker"
    kernel = cycle.partition(": ")[2].partition(",")[0]
    assert not kernel or f"\n-{kernel}: " in view
    return found


@pytest.mark.parametrize("executor", ["compiled", pytest.param("amaranth", marks=pytest.mark.long)])
def test_window_is_that_of_the_run(executor: str, capfd: pytest.CaptureFixture[str]) -> None:
    first = 830
    assert main([*RUN, "--quiet", "--executor", executor, "--waves", "own.vcd", "--wave-window", "830:889"]) == 0
    lines = replayed("seen", str(first + 5), "--before", "5", "--cycles", "60", "--executor", executor, capfd=capfd)
    assert lines[0].startswith("out.vcd: cycles 830 to 889, ")
    assert len(lines) == 2
    assert recording(Path("out.vcd")) == recording(Path("own.vcd"))


def test_window_of_a_machine_with_every_part_from_a_checkpoint(capfd: pytest.CaptureFixture[str]) -> None:
    run = ("bfs", "many.txt", "--source", "0", "--config", "fast-test", "--quiet")
    kept = ("--checkpoint", "kept-fast", "--checkpoint-every", "1100cycles")
    assert main([*run, "--record", "unfinished", "--cycle-limit", "2000", *kept]) == 3
    assert main([*run, "--waves", "own.vcd", "--wave-window", "0:1499"]) == 0
    lines = replayed("unfinished", "1400", "--cycles", "100", "--from", "kept-fast", capfd=capfd)
    assert lines[0].startswith("out.vcd: cycles 1,400 to 1,499, ")
    begun = recording(Path("out.vcd"))
    for path, changes in recording(Path("own.vcd")).changes.items():
        before = [value for time, value in changes if time <= 1400]
        after = [change for change in changes if change[0] > 1400]
        # A checkpoint has neither payloads that the host shows while they are not valid, nor bits of a register unread.
        if path[1] != "shell" and path[-1] != "ahead" and not unread(path):
            assert begun.changes[path] == [(1400, before[-1]), *after], path


def first_shown(whole: Recording, value: str, kernels: list[tuple[str, str]], begin: int, end: int) -> int:
    """Return the first cycle of some in which a kernel has a cause, which its register shows a cycle later."""
    found = []
    for kernel in kernels:
        now = ""
        changes = dict(whole.changes[*kernel, "cause"])
        for cycle in range(end):
            now = changes.get(cycle, now)
            if now == value and cycle >= begin:
                found.append(cycle)
                break
    return min(found) - 1


@pytest.mark.parametrize(
    ("at", "cause", "kernels"),
    [
        ("slot", "SLOT", ["bfs0", "bfs1"]),
        ("slot,level=2,kernel=1,engine=1", "SLOT", ["bfs1"]),
        ("credit,phase=backward", "CREDIT", ["bfs0", "bfs1"]),
        ("flush,module=intersection", "FLUSH", ["intersection0"]),
    ],
)
def test_causes_are_found_to_the_cycle(
    at: str, cause: str, kernels: list[str], whole: Recording, capfd: pytest.CaptureFixture[str]
) -> None:
    engines = ["engine1"] if "engine=1" in at else ["engine0", "engine1"]
    rows = Record("seen").frame("instructions")
    if "level=2" in at:
        rows = rows[rows["level"] == 2]
    if "backward" in at:
        rows = rows[rows["phase"] == "backward"]
    begin = int(rows["start"].iloc[0])
    expected = first_shown(whole, cause, [(e, k) for e in engines for k in kernels], begin, whole.end)
    assert cycle_of("seen", at, capfd) == expected


@pytest.mark.parametrize(
    ("at", "cycle"),
    [("full:entries,module=intersection", 3903), ("duplicate", 712), ("duplicate,phase=backward", 2916)],
)
def test_what_the_machine_is_looked_at_for_is_found_to_the_cycle(
    at: str, cycle: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """The cycles are those of every executor, and of every version of the hardware that keeps its cycles."""
    assert cycle_of("seen", at, capfd) == cycle


@pytest.mark.long
def test_executors_find_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--record-interval", "64", "--quiet", "--executor", "amaranth")
    assert main([*RUN, "--record", "simulated", *options]) == 0
    for at in ("full", "full:entries,module=intersection", "duplicate", "slot,iteration=1,phase=backward"):
        assert cycle_of("seen", at, capfd) == cycle_of("simulated", at, capfd)


def test_instructions_and_idle_kernels_are_in_the_record(capfd: pytest.CaptureFixture[str]) -> None:
    record = Record("seen")
    rows = record.frame("instructions")
    backward = rows[(rows["phase"] == "backward") & (rows["level"] == 1)].iloc[0]
    assert cycle_of("seen", "level=1,phase=backward", capfd) == backward["start"]
    kernels = record.frame("instruction_kernels")
    idle = kernels[(kernels["instruction"] == 0) & (kernels["no_work"] > 0)]
    assert cycle_of("seen", "idle", capfd) == rows["start"].iloc[0] + idle["done"].min()


def test_waits_are_those_that_the_record_counts() -> None:
    record = Record("seen")
    windows = [(830, 1200), (1900, 2000)]
    watchers = [WaitWatcher(1), WaitWatcher(4), WaitWatcher(2, windows=windows[:1])]
    watchers.append(WaitWatcher(1, windows=windows, ahead=0))
    frames = []
    for watcher in watchers:
        assert replayed_run(record).watch([watcher], aim="") == record.cycles
        frames.append(watcher.frame())
    every, long, inside, apart = frames
    counted = record.frame("kernels").groupby(["engine", "module", "kernel"], observed=True).sum()
    sums = every.groupby(["engine", "module", "kernel", "cause"], observed=True)["cycles"].sum().unstack(fill_value=0)
    for cause in RUNNING:
        name = cause.name.lower()
        assert sums.get(name, 0 * sums.iloc[:, 0]).tolist() == counted[name].tolist()
    assert every["begin"].is_monotonic_increasing
    pd.testing.assert_frame_equal(long, every[every["cycles"] >= 4].reset_index(drop=True))
    overlapping = (every["begin"] <= 1200) & (every["begin"] + every["cycles"] > 830) & (every["cycles"] >= 2)
    pd.testing.assert_frame_equal(inside, every[overlapping].reset_index(drop=True))
    assert 0 < len(inside) < len(long) < len(every)
    for first, last in windows:
        clipped = []
        for frame in (every, apart):
            begin, end = frame["begin"].clip(lower=first), (frame["begin"] + frame["cycles"]).clip(upper=last + 1)
            clipped.append(frame.assign(begin=begin, cycles=end - begin)[end > begin])
        columns = ["begin", "engine", "module", "kernel", "cause", "cycles"]
        one, other = (frame[columns].sort_values(columns).reset_index(drop=True) for frame in clipped)
        pd.testing.assert_frame_equal(one, other)
    assert not apart["begin"].between(1300, 1800).any(), "nothing is collected between the windows"


@pytest.fixture(scope="module")
def waits(folder: Path) -> pd.DataFrame:
    """Return every wait of the run, with the level of its instruction."""
    record = Record(folder / "seen")
    watcher = WaitWatcher(1)
    replayed_run(record).watch([watcher], aim="")
    found = watcher.frame()
    instructions = record.attempts
    places = instructions["start"].searchsorted(found["begin"], side="right") - 1
    return found.assign(level=instructions["level"].to_numpy()[places])


@pytest.mark.parametrize(
    ("at", "choose"),
    [
        ("wait=response,longer=80", "cause == 'response' and cycles > 80"),
        ("wait=slot,longer=2,nth=3,engine=1", "cause == 'slot' and cycles > 2 and engine == 1"),
        ("credit,nth=2,kernel=1,module=bfs", "cause == 'credit' and kernel == 1 and module == 'bfs'"),
        ("wait=any,level=2,nth=20", "cause in ('response', 'credit', 'slot', 'refused', 'resting') and level == 2"),
        ("slot,level=0,nth=2", "cause == 'slot' and level == 0"),
        ("flush,module=intersection,engine=1", "cause == 'flush' and module == 'intersection' and engine == 1"),
    ],
)
def test_waits_by_length_and_number(
    at: str, choose: str, waits: pd.DataFrame, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = waits.query(choose)
    nth = int(at.partition("nth=")[2].partition(",")[0] or 1)
    row = chosen.iloc[nth - 1]
    said, _ = replayed("seen", at, "--cycles", "2", capfd=capfd)[:2]
    where = f"engine{row['engine']}.{row['module']}{row['kernel']}, {count_text(row['cycles'], 'cycle')}"
    assert said.partition(" is at ")[2] == f"cycle {row['begin']:,}: {where}"


def test_a_wait_is_told_only_when_no_earlier_one_goes_on(waits: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.replay.spells._LOOK", 1)
    own = waits[waits["cause"] == "response"].reset_index(drop=True)
    ends = own["begin"] + own["cycles"]
    replay = replayed_run(Record("seen"))
    for place in (ends.cummax() - ends).nlargest(8).index:
        row, found = own.loc[place], replay.locate(Place(cause="response", nth=int(place) + 1))
        kernel = f"engine{row['engine']}.{row['module']}{row['kernel']}"
        assert (found.cycle, found.kernel, found.cycles) == (row["begin"], kernel, row["cycles"])


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("wait=slot,longer=20", "no wait there is longer than {longest} cycles, from cycle {begin:,} on"),
        ("wait=slot,longer=500", r"no kernel there has it for more than \d+ cycles"),
        ("slot,level=0,nth=999", r"it happens \d+ times"),
        ("fifo=visits,above=200", r"it holds \d entries at most"),
        (
            "slot,module=intersection",
            r"elsewhere it happens in \d+ instructions, first in engine\d.bfs\d, iteration 1, .*",
        ),
    ],
)
def test_what_there_is_instead(at: str, said: str, waits: pd.DataFrame, capfd: pytest.CaptureFixture[str]) -> None:
    slots = waits[waits["cause"] == "slot"]
    longest = slots.loc[slots["cycles"].idxmax()]
    capfd.readouterr()
    assert main(["replay", "seen", "--at", at, "-o", "out.vcd"]) == 2
    said = said.format(longest=longest["cycles"], begin=longest["begin"])
    assert re.fullmatch(rf"cyscc replay: seen: there is no .* in the run: {said}\n", capfd.readouterr().err)


def test_overflow_is_in_the_attempt_that_was_given_up(capfd: pytest.CaptureFixture[str]) -> None:
    record = Record("restarted")
    rows = record.frame("instructions")
    given_up = rows[rows["attempt"] == 0].iloc[-1]
    cycle = cycle_of("restarted", "overflow", capfd)
    assert given_up["start"] < cycle < given_up["start"] + given_up["cycles"]
    changes = recording(Path("out.vcd")).changes
    shown = [listed for path, listed in changes.items() if path[-2:] == ("visitor", "overflow")]
    assert [listed for listed in shown if listed[0] == (cycle, "1")] != []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("seen --at refused", "seen: there is no cause=refused in the run: refused never happens"),
        ("trimmed --at start", "trimmed: there is no start in the run: it ran no instruction"),
        ("trimmed --at overflow", "trimmed: there is no overflow in the run: it ran no instruction"),
        ("seen --at slot --scope none.*", "scope none.*: matches no signal: the machine has engine0, engine1"),
        ("old --at 5", "old: the run was made by another version of this program"),
    ],
)
def test_refusals(arguments: str, why: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    Path("old").mkdir(exist_ok=True)
    document = json.loads(Path("seen", "record.json").read_text())
    write_sealed("old/record.json", {**document, "program": "0" * 64})
    capfd.readouterr()
    # What is refused is refused before any simulation.
    monkeypatch.setattr("cyscc.host.runs.execution.Session.execute", None)
    assert main(["replay", *arguments.split()]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"cyscc replay: {why}")


def test_run_that_fails_leaves_its_last_cycles(capfd: pytest.CaptureFixture[str]) -> None:
    kept = ("--checkpoint", "kept", "--checkpoint-every", "500cycles")
    assert main([*RUN, "--record", "failed", "--cycle-limit", "2000", *kept, "--quiet"]) == 3
    said, failure, *_ = capfd.readouterr().err.splitlines()
    document = json.loads(Path("failed", "failed.json").read_text())
    end = document["failure"]["cycle"]
    assert said == f"cyscc: failed/last.fst shows cycles {end - 1000:,} to {end - 1:,}, in which the run failed"
    assert failure == "cyscc scc: cycle limit of 2,000 reached"
    shown = recording(Path("failed", "last.fst"))
    assert shown.end == end
    assert min(listed[0][0] for listed in shown.changes.values()) == end - 1000
    lines = replayed("failed", "error", "--before", "30", capfd=capfd)
    assert lines[0] == f"error is at cycle {end - 1:,}"
    assert lines[1].startswith(f"out.vcd: cycles {end - 31:,} to {end - 1:,}, ")
    assert replayed("failed", "error", "--before", "30", "--from", "kept", capfd=capfd) == lines
    # The checkpoint is of a later cycle: the run begins anew.
    early, *_ = replayed("failed", "5", "--cycles", "3", "--from", "kept", capfd=capfd)
    assert early.startswith("out.vcd: cycles 5 to 7, ")
    assert main(["replay", "restarted", "--at", "5", "--from", "kept"]) == 2
    refusal = "cyscc replay: kept: is not the checkpoint of the run in restarted\n"
    assert capfd.readouterr().err == refusal
    assert main(["replay", "failed", "--at", "error,level=9"]) == 2
    why = "the run failed: its error is that of the whole machine, without level=9"
    assert capfd.readouterr().err == f"cyscc replay: failed: {why}\n"


def test_checkpoint_of_a_run_that_failed_may_have_become_another_ones(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--record", "limited", "--cycle-limit", "300", "--quiet"]) == 3
    failed = Path("limited", "failed.json")
    write_sealed(failed, {**read_sealed(failed), "checkpoint": "seen"})
    (said, *_) = replayed("limited", "error", "--cycles", "1", capfd=capfd)
    assert said.startswith("error is at cycle 3")
    assert main(["replay", "limited", "--at", "error", "--from", "seen"]) == 2
    assert capfd.readouterr().err.startswith("cyscc replay: seen: is no folder of checkpoints: it holds ")
