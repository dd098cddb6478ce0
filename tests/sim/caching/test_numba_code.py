"""What numba compiles is kept in a folder of this user's alone, and found again only for the same sources."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cyscc.sim.caching.numba_code import njit

CALLED = """\
STEP = 1

def step(number):
    return number + STEP
"""
CALLING = """\
def twice(number):
    return step(step(number))
"""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the kept code."""
    folder = tmp_path / "code"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    return folder


def module(folder: Path, name: str, source: str, **names: Any) -> ModuleType:
    """Return a module, as another process would find it."""
    path = folder / f"{name}.py"
    path.write_text(source)
    made = ModuleType(name)
    exec(compile(source, str(path), "exec"), vars(made))
    vars(made).update(names)
    return made


def load(folder: Path, *, step: int = 1) -> Any:
    """Return a function that calls one of another file."""
    called = module(folder, "called", CALLED, STEP=step)
    # What has another text in every process does not count.
    vars(called)["NAMES"] = (called.step, object())
    inner = njit(cache=True, nogil=True)(called.step)
    return njit(cache=True, nogil=True)(module(folder, "calling", CALLING, step=inner).twice)


def hits(function: Any) -> int:
    """Return how often code was found."""
    return sum(function.stats.cache_hits.values())


def test_code_is_kept_and_found_again(tmp_path: Path, kept: Path) -> None:
    first, second = load(tmp_path), load(tmp_path)
    umask = os.umask(0o002)
    assert (first(4), hits(first)) == (6, 0)
    os.umask(umask)
    assert {folder.stat().st_mode & 0o777 for folder in kept.iterdir()} == {0o700}
    assert (second(4), hits(second)) == (6, 1)
    assert list(tmp_path.rglob("__pycache__")) == []


def test_arrays_and_options() -> None:
    def halves(numbers: Any) -> Any:
        return numbers // 2, numbers[0] // 0

    function = njit(error_model="numpy")(halves)
    assert (function(np.array([4, 6]))[0].tolist(), function.py_func) == ([2, 3], halves)


def test_changed_constant_of_a_function_that_is_called_is_another_function(tmp_path: Path) -> None:
    assert load(tmp_path)(4) == 6
    function = load(tmp_path, step=2)
    assert (function(4), hits(function)) == (8, 0)


@pytest.mark.parametrize(
    ("variable", "status", "err"),
    [
        ("NUMBA_DISABLE_JIT=1", 0, ""),
        (
            "NUMBA_NUM_THREADS=0",
            3,
            "cyscc generate: numba, by its environment variables: Number of threads specified must be > 0.\n",
        ),
        (
            "NUMBA_OPT=x",
            3,
            "cyscc generate: numba, by its environment variables: Environment variable 'NUMBA_OPT' is defined but its "
            "associated value 'x' could not be parsed.\n",
        ),
    ],
)
def test_variables_of_numba(variable: str, status: int, err: str, tmp_path: Path) -> None:
    name, _, value = variable.partition("=")
    words = ["gnm", "--vertices", "9", "--edges", "9", "-o", str(tmp_path / "g.txt"), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "cyscc.host.command_line.main", "generate", *words],
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (status, err)


def _files(kept: Path, suffix: str) -> list[Path]:
    return sorted(kept.glob(f"calling-*/*/*{suffix}"))


@pytest.mark.parametrize(("suffix", "size"), [("nbi", 0), ("nbi", 20), ("nbc", 0), ("nbc", 100)])
def test_code_that_is_cut_off_is_compiled_again(
    suffix: str, size: int, tmp_path: Path, kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert load(tmp_path)(4) == 6
    (file,) = _files(kept, suffix)
    os.truncate(file, size)
    assert load(tmp_path)(4) == 6
    assert capfd.readouterr().err == f"cyscc: {file.parent}: it is cut off: compiled again, and not kept\n"


def _writable(folder: Path) -> None:
    folder.chmod(0o770)


def _readable(folder: Path) -> None:
    folder.chmod(0o755)


def _of_another(folder: Path) -> None:
    if os.geteuid():
        pytest.skip("only root may give files away")
    os.chown(folder, 12345, -1)


def _link(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    folder.symlink_to("moved")


@pytest.mark.parametrize("change", [_writable, _readable, _of_another, _link])
def test_code_in_a_folder_that_others_may_enter_is_not_run(
    change: Callable[[Path], None], tmp_path: Path, kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert load(tmp_path)(4) == 6
    (folder,) = kept.glob("calling-*")
    change(folder)
    function = load(tmp_path)
    assert (function(4), hits(function)) == (6, 0)
    assert capfd.readouterr().err == f"cyscc: {folder}: it is not this user's alone: compiled code is not kept\n"


def test_code_that_cannot_be_kept_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise OSError(20, "Not a directory")

    cache = tmp_path / "file" / "cache"
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("CYSCC_CACHE", str(cache))
    monkeypatch.setattr("cyscc.sim.caching.folder.tempfile.mkdtemp", refuse)
    function = load(tmp_path)
    assert (function(4), function(4.0), hits(function)) == (6, 6.0, 0)
    assert capfd.readouterr().err == (
        f"cyscc: {cache}: Not a directory; and no temporary cache can be made: Not a directory: "
        "compiled code is not kept\n"
    )


def test_code_that_cannot_be_written_is_used(tmp_path: Path, kept: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert load(tmp_path)(4) == 6
    (file,) = _files(kept, "nbi")
    file.unlink()
    file.mkdir()
    assert load(tmp_path)(4) == 6
    assert capfd.readouterr().err == f"cyscc: {file.parent}: Is a directory: compiled again, and not kept\n"
