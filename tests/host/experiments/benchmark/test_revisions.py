"""Two revisions against each other, in a repository whose command line pretends."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from cyscc.host.experiments.benchmark.revisions import compare_revisions, comparison_answer, other_seconds
from cyscc.host.experiments.benchmark.search import Preset, revision_of
from cyscc.host.experiments.plan.plan import OnStep, Plan, no_step
from cyscc.host.output.errors import InputError
from cyscc.sim.errors import SimulationError
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[4]
PRESET = Preset(
    config="test", memory="hc2", next_config="fast-test", graphs={"revisions": (2**4, 2)}, repetitions={"revisions": 2}
)

CLI = """\
import json, sys, time
from pathlib import Path
def main():
    options = dict(zip(sys.argv[3:-3:2], sys.argv[4:-3:2]))
    assert sys.argv[1] == "bfs" and Path(sys.argv[2]).exists(), sys.argv
    assert (options["--source"], options["--memory"]) == ("0", "hc2")
    assert options["--config"] == {config!r}
    assert sys.argv[-3:] == ["--quiet", "--json", "-"]
    {action}
    # The first run of a tree takes longer than those after it.
    first = not Path(__file__).with_name("ran").exists()
    Path(__file__).with_name("ran").touch()
    wall = {{"load": 9, "build": 7.0, "simulate": {seconds} + first, "record": 0.5, "peak_memory_bytes": 1 << 20}}
    print(json.dumps({{"cycles": {{"total": {cycles}}}, "wall": wall}}))
"""


def commit(folder: Path, *, seconds: float = 1.0, cycles: int = 500, action: str = "pass", config: str = "test") -> str:
    """Commit a program whose simulation claims to take some seconds; return the revision."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text('[project.scripts]\ncyscc = "commands:main"\n')
    (folder / "commands.py").write_text(CLI.format(seconds=seconds, cycles=cycles, action=action, config=config))
    (folder / ".gitignore").write_text("/build/\n/ran\n__pycache__/\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "A revision")
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def assert_nothing_left(folder: Path) -> None:
    assert not (folder / "build" / "bench-compare").exists()
    assert len(git(folder, "worktree", "list").splitlines()) == 1


def compare(
    folder: Path, base: str, *, comparisons: Sequence[str] = ("random-1",), on_step: OnStep = no_step
) -> dict[str, Any]:
    measurements = Plan(folder=folder / "build", verify=False, on_step=on_step)
    return compare_revisions(measurements, folder, base, preset=PRESET, comparisons=comparisons)


pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure without separate processes, which take longer to start than to measure."""

    def perform(requests: Any, work: Any, on_outcome: Any, **_: Any) -> None:
        for request in requests:
            on_outcome(request, work(request))

    monkeypatch.setattr("cyscc.host.experiments.plan.plan.perform_here", perform)
    # Others are busy as they like.
    monkeypatch.setattr("cyscc.host.experiments.benchmark.revisions.other_seconds", lambda: 0.0)


def test_revision_against_another(tmp_path: Path) -> None:
    base = commit(tmp_path, seconds=4)
    head = commit(tmp_path, seconds=1)
    told: list[str] = []
    document = compare(tmp_path, "HEAD~1", on_step=lambda _, __, what: told.append(what))
    assert document["revisions"] == {"base": base, "head": head}
    (row,) = document["rows"]
    one, other = row["sides"]
    assert (one["label"], [run["seconds"] for run in one["runs"]]) == ("base", [5.5, 4.5])
    assert (other["label"], [run["seconds"] for run in other["runs"]]) == ("this", [2.5, 1.5])
    assert (row["name"], row["cycles"], row["ratio"], row["same"]) == ("random-1", 500, 3.0, True)
    assert told == ["", "random-1: 1 of 2, 5.500 s and 2.500 s", "random-1: 2 of 2, 4.500 s and 1.500 s"]
    assert list((tmp_path / "build" / "results").iterdir()) == []
    assert_nothing_left(tmp_path)
    answer = comparison_answer(document)
    assert answer.facts["configuration"] == "test, memory hc2, graphs 2^4 × 2"
    assert (answer.facts["base"], answer.facts["this"]) == (base, head)
    assert answer.tables["rows"].grid().rows == [["random-1", "base, this", "111, 333", "3.000", "1.00", "yes", ""]]


def test_ways_to_run_this_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.experiments.benchmark.revisions.available_cores", lambda: 2)
    commit(
        tmp_path, action="assert '--record' not in options or list(Path(options['--record']).parent.iterdir()) == []"
    )
    record, pair = compare(tmp_path, "HEAD", comparisons=["record", "pair"])["rows"]
    assert [side["label"] for side in record["sides"]] == ["recorded", "plain"]
    # Two runs of as many seconds side by side are twice as fast as one.
    assert [side["label"] for side in pair["sides"]] == ["two runs", "2 threads"]
    assert pair["ratio"] == 0.5


def test_graphs_and_processors_that_are_lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CYSCC_GRAPHS", str(tmp_path))
    commit(tmp_path / "project")
    document = compare(tmp_path / "project", "HEAD", comparisons=["wiki-Vote"])
    expected = "wiki-Vote: wiki-Vote.txt.gz is not in the folder that CYSCC_GRAPHS names"
    assert comparison_answer(document).said[-1] == expected


def test_cycles_that_differ_are_said(tmp_path: Path) -> None:
    commit(tmp_path, cycles=500)
    commit(tmp_path, cycles=501)
    document = compare(tmp_path, "HEAD~1")
    assert [row["same"] for row in document["rows"]] == [False]
    assert comparison_answer(document).tables["rows"].grid().rows[0][-2] == "NO"


def test_turns_beside_other_processes_are_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What others have used before and after each run, of which a turn has two.
    used = iter([0, 100, 0, 0, 0, 0, 0, 0, *[0, 100] * 6])
    monkeypatch.setattr("cyscc.host.experiments.benchmark.revisions.other_seconds", lambda: next(used))
    commit(tmp_path)
    document = compare(tmp_path, "HEAD")
    (row,) = document["rows"]
    assert next(used, None) is None
    first, second = (max(side["runs"][turn]["others"] for side in row["sides"]) for turn in range(2))
    assert first == 0
    assert second == row["others"] > 1
    assert comparison_answer(document).tables["rows"].grid().rows[0][-1] == f"used {second:.1f} cores"


def test_what_other_processes_use(tmp_path: Path) -> None:
    # A process that is not ours, nor ended before.
    began, before = perf_counter(), other_seconds()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        wait_until(lambda: other_seconds() - before > 0.2)
        busy.kill()
    assert other_seconds() - before <= os.cpu_count() * (perf_counter() - began)  # type: ignore[operator]


def test_row_of_the_next_machine(tmp_path: Path) -> None:
    commit(tmp_path, config="fast-test")
    assert compare(tmp_path, "HEAD", comparisons=["fast-1"])["rows"][0]["ratio"] == 1


def test_row_of_the_build(tmp_path: Path) -> None:
    action = "assert 'cache' not in os.listdir(os.path.dirname(os.environ['CYSCC_CACHE']))"
    commit(tmp_path, action=f"import os; {action}")
    document = compare(tmp_path, "HEAD", comparisons=["build"])
    (row,) = document["rows"]
    assert [run["seconds"] for run in row["sides"][0]["runs"]] == [7.0, 7.0]
    assert comparison_answer(document).tables["rows"].grid().rows[0][2] == "7.0 s, 7.0 s"


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    def refusal(base: str = "HEAD") -> str:
        with pytest.raises(InputError) as caught:
            compare(tmp_path, base)
        return str(caught.value)

    assert refusal() == f"{tmp_path}: is no git repository, so that there is nothing to compare with"
    commit(tmp_path)
    assert refusal("nothing") == f"{tmp_path}: there is no revision 'nothing'"
    assert refusal("--all") == f"{tmp_path}: there is no revision '--all'"
    (tmp_path / "new").touch()
    assert refusal() == (
        f"{tmp_path}: has changes that are not committed: commit them, so that what is compared has a name"
    )


def test_failing_base_is_named_and_removed(tmp_path: Path) -> None:
    commit(tmp_path, action="sys.exit('cyscc bfs: it is broken')")
    commit(tmp_path)
    with pytest.raises(SimulationError, match=r"^random-1: cyscc bfs: it is broken$"):
        compare(tmp_path, "HEAD~1")
    assert_nothing_left(tmp_path)


def test_interrupt_leaves_nothing(tmp_path: Path) -> None:
    begun = tmp_path / "build" / "begun"
    commit(tmp_path, action=f"Path({str(begun)!r}).touch(); time.sleep(60)")
    code = (
        "import sys; from pathlib import Path; import cyscc.host.experiments.benchmark.search as s; "
        f"s.ROOT = Path({str(tmp_path)!r}); "
        f"from cyscc.host.command_line.main import main; sys.exit(main(['bench', '--quick', '--compare', 'HEAD', '-o', "
        f"{str(tmp_path / 'build')!r}]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whoever runs the tests in the background may have interrupts ignored, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            wait_until(begun.exists, process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, b"")
    kept = r"measuring: 0 of \d+ done, nothing is kept yet"
    assert re.fullmatch(f"cyscc bench: interrupted; {kept}; the same command goes on\n", err.decode())
    assert_nothing_left(tmp_path)


def test_revision_of_a_folder(tmp_path: Path) -> None:
    assert revision_of(tmp_path) is None
    revision = commit(tmp_path)
    assert revision_of(tmp_path) == revision
    (tmp_path / "commands.py").write_text("")
    assert revision_of(tmp_path) == f"{revision}-dirty"
    assert revision_of(tmp_path / "host") is None, "a folder in a repository is not one"
