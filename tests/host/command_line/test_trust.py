"""Folders and files of strangers: no code that they name is loaded, and nothing is written where only they say."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

import cyscc
from cyscc.host.command_line.main import main
from cyscc.host.specification.run import RunSpec
from cyscc.sim.memory import Profile
from tests.host.command_line.conftest import interrupted

CODE = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"
RUN = ["bfs", "g.txt", "--source", "0", "--config", "test", "--memory", "fixed:9", "--threads", "1", "--quiet"]
EVERY = ["--checkpoint", "kept", "--checkpoint-every", "20cycles"]
RULES = ("evil.py", "evil.py:9", "evil.toml", "../evil.py")
LOOKS = (
    ("explain", "seen", "--quiet"),
    ("report", "seen", "-o", "page.html"),
    ("replay", "seen", "--at", "20", "--cycles", "5", "-o", "w.vcd", "--quiet"),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    for place in (Path(), Path("..")):
        (place / "evil.py").write_text(CODE)
    Path("evil.toml").write_text('profile = "evil.py"\n')
    Path("g.txt").write_text("0 1\n1 2\n2 3\n3 0\n")
    return tmp_path


def forge(patch: pytest.MonkeyPatch, *, profile: str | None = None, **options: Any) -> None:
    """Have runs store other options, and another name of their memory profile."""
    document, describe = RunSpec.document, Profile.describe
    patch.setattr(RunSpec, "document", lambda spec: {**document(spec), **options})
    if profile is not None:
        patch.setattr(Profile, "describe", lambda its: {**describe(its), "profile": profile})


def keep(*arguments: str) -> None:
    """Make a run that is interrupted after its first checkpoint."""
    interrupted(*RUN, *EVERY, *arguments)


def refused(*arguments: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the line by which a command line is refused; check that no code has run."""
    capfd.readouterr()
    assert main([*arguments]) == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert not list(Path("..").rglob("ran"))
    return error.rstrip("\n")


def test_code_runs_if_it_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--memory", "evil.py"]) == 2
    assert "evil.py: must define one profile, not 0" in capfd.readouterr().err
    assert Path("ran").exists()


@pytest.mark.parametrize("rules", ["evil.py", "evil.toml"])
def test_records(rules: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        forge(patch, profile=rules, memory=rules)
        assert main([*RUN, "--record", "seen"]) == 0
        assert main([*RUN, "--record", "failed", "--cycle-limit", "30"]) == 3
    for look in LOOKS[:2]:
        main([*look])
    own = f"the run used memory rules of its own ({rules}): name their file: --memory FILE.py"
    assert refused(*LOOKS[2], capfd=capfd) == f"cyscc replay: seen: {own}"
    assert refused("replay", "failed", "--at", "9", "-o", "w.vcd", capfd=capfd) == f"cyscc replay: failed: {own}"
    with pytest.raises(cyscc.InputError, match=r"^seen: the run used memory rules of its own"):
        cyscc.replay("seen", 20, "w.vcd")
    assert not list(Path("..").rglob("ran"))


@pytest.mark.parametrize("rules", ["evil.py:9", "evil.toml"])
def test_checkpoints(rules: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        forge(patch, memory=rules)
        keep()
    error = refused("bfs", "--resume", "kept", capfd=capfd)
    assert error.endswith("name their file: --memory FILE.py")


@pytest.mark.parametrize("record", ["../escaped", "link/escaped"])
def test_record_that_only_a_checkpoint_names(record: str, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("link").symlink_to(folder)
    with pytest.MonkeyPatch.context() as patch:
        forge(patch, record=record)
        keep()
    error = refused("bfs", "--resume", "kept", capfd=capfd)
    assert error == (
        f"cyscc bfs: kept: the run was recorded to {record}, which holds no part of its record: "
        "name its folder: --record DIR"
    )
    assert not Path(record).exists()


def test_record_goes_on_where_its_parts_are(capfd: pytest.CaptureFixture[str]) -> None:
    keep("--record", "seen")
    assert main(["bfs", "--resume", "kept", "--quiet"]) == 0
    assert Path("seen", "record.json").exists()


def test_graph_that_is_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.txt")
    with pytest.MonkeyPatch.context() as patch:
        forge(patch, graph="pipe.txt")
        keep()
    assert refused("bfs", "--resume", "kept", capfd=capfd) == (
        "cyscc bfs: kept: the graph pipe.txt is no plain file: name it again"
    )
    assert main([*RUN, "--record", "seen"]) == 0
    Path("g.txt").unlink()
    os.mkfifo("g.txt")
    assert refused(*LOOKS[2], capfd=capfd).endswith("g.txt: is no plain file: name the graph of the run: --graph FILE")


@pytest.mark.parametrize("rules", RULES)
def test_studies_and_parameters(rules: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text(f'memory = "{rules}"\nconfig = "test"\ngraph = "g.txt"\n')
    error = refused("sweep", "study.toml", capfd=capfd)
    assert error.startswith("cyscc sweep: study.toml: ")
    assert error.endswith("evil.py has rules, which are code: name their file: --memory FILE.py")
    assert refused(*RUN, "--memory", "evil.toml", capfd=capfd).startswith(
        "cyscc bfs: --memory: evil.toml: evil.py has rules, which are code: "
    )


def test_study_with_rules_that_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text('memory = "../evil.py"\nconfig = "test"\ngraph = "g.txt"\n')
    assert main(["sweep", "study.toml", "--memory", "../evil.py"]) == 2
    assert "evil.py: must define one profile, not 0" in capfd.readouterr().err
    assert Path("../ran").exists()
    assert not Path("ran").exists()


def test_exit_from_within_a_command_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*_: object, **__: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("cyscc.sim.caching.libraries.entries", leave)
    assert main(["cache"]) == 3


def test_python_that_is_started_imports_nothing_from_the_working_folder() -> None:
    """`-P` keeps the current folder out of the path of ``python -c`` and ``python -m``."""
    root = Path(__file__).parents[3]
    sources = [path.read_text() for part in ("hw", "sim", "host") for path in (root / part).rglob("*.py")]
    started = [part for text in sources for part in re.split(r"(?:\[|\*\()sys\.executable, ", text)[1:]]
    assert len(started) == 4
    assert all(text.startswith('"-P", ') for text in started)
