"""Compiled code is cached, and reused only if this user wrote it for the same function."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cyscc.sim.caching.code import SUFFIX, njit

SOURCE = """\
STEP = 1

def step(number):
    return number + STEP
"""


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the cached code."""
    folder = tmp_path / "code"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    return folder


def load(folder: Path, *, step: int = 1) -> Any:
    """Return a function, as another process would find it."""
    source = folder / "source.py"
    source.write_text(SOURCE)
    module = ModuleType("stepping")
    exec(compile(SOURCE, str(source), "exec"), vars(module))
    vars(module)["STEP"] = step
    return njit(cache=True, nogil=True)(module.step)


def hits(function: Any) -> int:
    """Return how often code was found: without numba if it is bare."""
    return sum(function._cache_hits.values()) if "dispatcher" in vars(function) else 1


def test_code_is_kept_and_found_again(tmp_path: Path, kept: Path) -> None:
    first, second = load(tmp_path), load(tmp_path)
    umask = os.umask(0o002)
    assert (first(4), hits(first)) == (5, 0)
    os.umask(umask)
    (file,) = kept.rglob(f"*{SUFFIX}")
    assert file.parent.parent == kept
    assert file.parent.stat().st_mode & 0o777 == 0o755
    assert (second(4), hits(second)) == (5, 1)


def pair(numbers: Any, factors: Any) -> Any:
    """Return a pair of numbers, which bare code can."""
    total, most = 0, 0
    for number in numbers:
        total += number * factors[0] - factors[1]
        most = max(most, number)
    return total, most


def halves(numbers: Any) -> Any:
    """Return an array, which only numba's own code can."""
    return numbers / 2


def test_arguments_and_results_of_bare_code() -> None:
    numbers = np.arange(6, dtype=np.int64)
    for _ in range(2):
        function = njit(cache=True, nogil=True)(pair)
        assert function(numbers, (3, True)) == (3 * 15 - 6, 5)
        # Each kind of argument has code of its own.
        assert function(numbers[::2], (3, 1)) == (3 * 6 - 3, 4)
        assert function(numbers.astype(np.int8), (np.int64(2), 0)) == (30, 5)
    assert "dispatcher" not in vars(function)


def test_code_that_creates_arrays_is_kept() -> None:
    for found in (0, 1):
        function = njit(cache=True, nogil=True)(halves)
        assert (function(np.array([4, 6])).tolist(), hits(function)) == ([2.0, 3.0], found)
        assert "dispatcher" in vars(function)


def test_checked_code_is_not_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    function = njit(cache=True, nogil=True)(pair)
    assert (function(np.array([7]), (1, 0)), "dispatcher" in vars(function)) == ((7, 7), True)


def test_changed_constant_is_another_function(tmp_path: Path) -> None:
    assert load(tmp_path)(4) == 5
    function = load(tmp_path, step=2)
    assert (function(4), hits(function)) == (6, 0)


def test_code_that_may_not_be_read_is_silently_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert load(tmp_path)(4) == 5

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if Path(path).suffix == SUFFIX:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return opened(path, *arguments, **options)

    # Of others' folders; root may read everything.
    opened = os.open
    monkeypatch.setattr("os.open", refuse)
    for _ in range(2):
        function = load(tmp_path)
        assert (function(4), hits(function)) == (5, 0)
    assert capfd.readouterr().err == f"cyscc: {tmp_path / 'code'}: Permission denied: compiled code is not kept\n"


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


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def _huge(file: Path) -> None:
    os.truncate(file, 1 << 40)


def _foreign(file: Path) -> None:
    load(file.parents[2], step=2)(4)
    (other,) = set(file.parent.iterdir()) - {file}
    other.replace(file)


def _writable(file: Path) -> None:
    file.chmod(0o666)


def _of_another(file: Path) -> None:
    if os.geteuid():
        pytest.skip("only root may give files away")
    os.chown(file, 12345, -1)


DAMAGES: dict[Callable[[Path], None], str] = {
    _empty: "it is empty",
    _flipped: "it is damaged",
    _huge: "it is too long",
    _foreign: "it is foreign",
    _writable: "others may write it (mode 666; chmod go-w mends that)",
    _of_another: "it belongs to another user (12345)",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_code_is_compiled_again(
    damage: Callable[[Path], None], tmp_path: Path, kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert load(tmp_path)(4) == 5
    (file,) = kept.rglob(f"*{SUFFIX}")
    damage(file)
    function = load(tmp_path)
    assert (function(4), hits(function)) == (5, 0)
    assert capfd.readouterr().err == f"cyscc: {file}: {DAMAGES[damage]}: compiled again\n"
    function = load(tmp_path)
    assert (function(4), hits(function)) == (5, 1)


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
    assert (function(4), function(4.0), hits(function)) == (5, 5.0, 0)
    assert capfd.readouterr().err == (
        f"cyscc: {cache}: Not a directory; and no temporary cache can be made: Not a directory: "
        "compiled code is not kept\n"
    )
