"""Two revisions against each other, in a repository whose command line pretends."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.benchmark.revisions import compare_revisions, comparison_markdown, estimate
from cyscc.host.experiments.benchmark.search import Preset
from cyscc.host.experiments.measuring.environment import revision_of
from cyscc.host.experiments.measuring.measurements import Measurements, OnStep, no_step
from cyscc.host.experiments.measuring.store import Store
from cyscc.host.output.errors import InputError
from cyscc.sim.errors import SimulationError
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[4]
PRESET = Preset(config="test", memory="hc2", next_config="fast-test", graphs={"compiled-2": (2**4, 2)}, repetitions={})

LIBRARY = """\
static long now;
extern "C" long cyscc_cycle(void*) { return now; }
extern "C" int cyscc_run(void*, long budget) {
    for (volatile long n = 0; n < budget * WORK; n = n + 1) {}
    now += budget;
    return now >= 30000;
}
"""

CLI = """\
import ctypes, json, sys, time
from pathlib import Path
def main():
    options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    assert sys.argv[1] == "bfs" and Path(sys.argv[2]).exists(), sys.argv
    assert (options["--source"], options["--config"], options["--memory"]) == ("0", "test", "hc2")
    {action}
    library = ctypes.CDLL(str(Path(__file__).with_name("machine.so")))
    run = library.cyscc_run
    run.restype, run.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_int64]
    while not run(None, 12_345):
        pass
    document = {{"levels": [{{"cycles": {cycles}}}], "wall": {{"peak_memory_bytes": 1}}}}
    Path(sys.argv[-1]).write_text(json.dumps(document))
"""


def commit(folder: Path, *, work: int = 1, cycles: int = 500, action: str = "pass") -> str:
    """Commit a program whose cycles take some work; return the revision."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text('[project.scripts]\ncyscc = "commands:main"\n')
    (folder / "commands.py").write_text(CLI.format(cycles=cycles, action=action))
    (folder / "machine.cpp").write_text(LIBRARY)
    (folder / ".gitignore").write_text("/build/\n__pycache__/\n")
    command = ["g++", "-shared", "-fPIC", f"-DWORK={work}", "machine.cpp", "-o", "machine.so"]
    subprocess.run(command, cwd=folder, check=True)
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


def compare(folder: Path, base: str, *, on_step: OnStep = no_step) -> dict[str, Any]:
    measurements = Measurements(Store(folder / "build" / "measurements"), verify=False, on_step=on_step)
    return compare_revisions(measurements, folder, base, preset=PRESET, comparisons=["random-1"], passes=2)


pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure without separate processes, which take longer to start than to measure."""

    def run_groups(groups: Any, work: Any, *, on_result: Any, **_: Any) -> None:
        for request in (request for group in groups for request in group):
            on_result(request, work(request))

    monkeypatch.setattr("cyscc.host.experiments.measuring.measurements.run_groups", run_groups)


def test_revision_against_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The sources change within a second, by which Python would not tell that its compiled ones are out of date.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    base = commit(tmp_path, work=400)
    head = commit(tmp_path, work=100)
    told: list[str] = []
    document = compare(tmp_path, "HEAD~1", on_step=lambda _, __, what: told.append(what))
    assert document["revisions"] == {"base": base, "head": head}
    (row,) = document["rows"]
    assert 2 < row["ratio"] < 8, "a cycle of the base takes four times the work"
    assert row["interval"][0] <= row["ratio"] <= row["interval"][1]
    assert row["same"] is True
    assert [len(side) for each in row["times"] for side in each] == [2] * 4, "the last of three slices ends the search"
    assert told[-1].startswith("random, 1 thread: ")
    assert list((tmp_path / "build" / "measurements").iterdir()) == []
    assert_nothing_left(tmp_path)
    lines = comparison_markdown(document).splitlines()
    assert lines[0].startswith("configuration test, memory hc2, graphs 2^4 × 2; ")
    assert lines[2:4] == [f"- base: {base}", f"- this: {head}"]
    cells = [cell.strip() for cell in lines[7].split("|")[1:-1]]
    assert (cells[:2], cells[5:]) == (["random, 1 thread", "base, this"], ["1.00", "yes"])


def test_a_slice_takes_its_median_and_the_ratio_is_of_the_sums() -> None:
    one = [[1.0, 2.0], [1.0, 0.5]]
    slow = [[100.0, 2.0], [1.0, 0.5]]
    assert estimate([one] * 3) == (2, 2, 2)
    ratio, low, high = estimate([one, slow, one])
    assert ratio == 2
    assert low == 2 < high


def test_graphs_and_processors_that_are_lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CYSCC_GRAPHS", str(tmp_path))
    commit(tmp_path / "project")
    measurements = Measurements(Store(tmp_path / "measurements"), verify=False)
    document = compare_revisions(
        measurements, tmp_path / "project", "HEAD", preset=PRESET, comparisons=["wiki-Vote"], passes=1
    )
    expected = "wiki-Vote, whole command: wiki-Vote.txt.gz is not in the folder that CYSCC_GRAPHS names"
    assert comparison_markdown(document).splitlines()[-1] == expected


def test_cycles_that_differ_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    commit(tmp_path, cycles=500)
    commit(tmp_path, cycles=501)
    document = compare(tmp_path, "HEAD~1")
    assert [row["same"] for row in document["rows"]] == [False]
    assert comparison_markdown(document).splitlines()[7].endswith(" NO |")


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
    with pytest.raises(SimulationError, match=r"^random, 1 thread: cyscc bfs: it is broken$"):
        compare(tmp_path, "HEAD~1")
    assert_nothing_left(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    commit(tmp_path, action="time.sleep(60)")
    code = (
        "import sys; from pathlib import Path; import cyscc.host.experiments.measuring.environment as s; "
        f"s.root_folder = lambda: Path({str(tmp_path)!r}); "
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
            wait_until((tmp_path / "build" / "bench-compare" / "rmat.npz").exists, process)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    kept = f"finished results are kept in {tmp_path / 'build' / 'measurements'}; the same command goes on"
    assert (process.returncode, out, err.decode()) == (130, b"", f"cyscc bench: interrupted; {kept}\n")
    assert_nothing_left(tmp_path)


def test_revision_of_a_folder(tmp_path: Path) -> None:
    assert revision_of(tmp_path) is None
    revision = commit(tmp_path)
    assert revision_of(tmp_path) == revision
    (tmp_path / "commands.py").write_text("")
    assert revision_of(tmp_path) == f"{revision}-dirty"
    assert revision_of(tmp_path / "host") is None, "a folder in a repository is not one"
