"""Checkpoints: their folder, whole or absent, of which whatever is damaged is refused; their times and messages."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.host.output.documents import SEAL, sealed
from cyscc.host.output.errors import InputError
from cyscc.host.runs.checkpoints import folder as folder_module
from cyscc.host.runs.checkpoints.folder import CheckpointFolder
from cyscc.host.runs.checkpoints.writer import CheckpointWriter
from cyscc.host.specification.run import Interval
from cyscc.sim.named_words import NamedWords
from tests.host.runs.checkpoints.about import about_of
from tests.refusals import refused

Files = dict[str, NDArray[np.uint8]]
MEBIBYTE = 1 << 20


def files(seed: int) -> Files:
    """Return files: one that is always the same, one of zeros, and two that depend on the seed."""
    constant = np.random.default_rng(0).integers(0, 4, 2 * MEBIBYTE + 5, np.uint8)
    own = np.random.default_rng(seed).integers(0, 4, MEBIBYTE, np.uint8)
    return {
        "constant": constant,
        "zero": np.zeros(3 * MEBIBYTE, np.uint8),
        "own": own,
        "short": own[:3],
        "none": own[:0],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[CheckpointFolder]:
    made = CheckpointFolder(tmp_path / "kept", create=True)
    yield made
    made.close()


def blocks(folder: CheckpointFolder) -> set[str]:
    return set(os.listdir(folder.path / "blocks"))


def check(folder: CheckpointFolder, cycle: int, expected: Files) -> None:
    checkpoint = folder.read()
    assert checkpoint.about == about_of(cycle)
    for name, content in expected.items():
        assert np.array_equal(checkpoint.file(name), content)


def test_later_checkpoints_take_the_place_of_earlier_ones(folder: CheckpointFolder) -> None:
    assert not folder.complete
    folder.write(about_of(1), files(1))
    before = blocks(folder)
    check(folder, 1, files(1))
    folder.write(about_of(2), files(2))
    check(folder, 2, files(2))
    assert folder.complete
    # Of eight blocks, three are zero and one is empty.
    assert len(before) == len(blocks(folder)) == 5
    assert len(before & blocks(folder)) == 3


class EndError(Exception):
    """The process ends here."""


def test_end_at_any_moment_leaves_the_newest_complete_one(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ends before each of the calls that change something on the disk, one after the other."""
    folder.write(about_of(0), files(0))
    newest = 0
    for n in range(1, 100):
        calls = 0

        def ending(call: Any, last: int) -> Any:
            def ends(*arguments: Any, **options: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls > last:
                    raise EndError
                return call(*arguments, **options)

            return ends

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", ending(os.open, n))
            patch.setattr(os, "fsync", ending(os.fsync, n))
            patch.setattr(Path, "replace", ending(Path.replace, n))
            patch.setattr(Path, "unlink", ending(Path.unlink, n))
            try:
                folder.write(about_of(n), files(n))
                complete = True
            except EndError:
                complete = False
        found = folder.read().about.cycle
        assert found in (newest, n)
        newest = found
        check(folder, found, files(found))
        if complete:
            break
    assert complete
    assert n > 10
    assert len(blocks(folder)) == 5


def test_removed(folder: CheckpointFolder) -> None:
    folder.write(about_of(1), files(1))
    # A killed process was writing its result here.
    (folder.path / ".result.cyscc-0123456789abcdef.json").write_text("{")
    folder.remove()
    assert not folder.path.exists()


def read_all(path: Path) -> None:
    """Read a folder's checkpoint with all its files."""
    folder = CheckpointFolder(path, create=False)
    try:
        checkpoint = folder.read()
        for name in files(1):
            checkpoint.file(name)
    finally:
        folder.close()


def refusal(path: Path) -> str:
    """Return the message by which a folder is refused, without the folder's name."""
    with pytest.raises(InputError) as caught:
        read_all(path)
    return str(caught.value).replace(str(path), "DIR")


def test_folders_that_hold_no_checkpoint(tmp_path: Path) -> None:
    assert refusal(tmp_path / "missing") == "DIR: No such file or directory"
    (tmp_path / "file").write_text("")
    assert refusal(tmp_path / "file") == "DIR: Not a directory"
    (tmp_path / "empty").mkdir()
    assert refusal(tmp_path / "empty") == "DIR: holds no complete checkpoint"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    assert refusal(tmp_path / "other") == "DIR: is no folder of checkpoints: it holds thesis.tex"
    with pytest.raises(InputError, match="it holds thesis"):
        CheckpointFolder(tmp_path / "other", create=True)


def test_blocks_of_somebody_else_are_left_alone(tmp_path: Path) -> None:
    thesis = tmp_path / "other" / "blocks" / "thesis.tex"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("precious")
    with pytest.raises(InputError, match="it holds blocks/thesis"):
        CheckpointFolder(tmp_path / "other", create=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "blocks").symlink_to(thesis.parent)
    with pytest.raises(InputError, match="it holds blocks"):
        CheckpointFolder(tmp_path / "linked", create=True)
    assert thesis.read_text() == "precious"


def test_folder_of_which_nothing_has_come_is_removed(tmp_path: Path) -> None:
    CheckpointFolder(tmp_path / "kept", create=True).close()
    assert not (tmp_path / "kept").exists()
    (tmp_path / "kept").mkdir()
    CheckpointFolder(tmp_path / "kept", create=True).close()
    assert (tmp_path / "kept").exists()


def test_folder_of_another_run_in_this_moment(folder: CheckpointFolder) -> None:
    assert refusal(folder.path) == "DIR: is in use by another run"


def forged(text: bytes, change: Callable[[Any], object]) -> bytes:
    """Return a manifest with a change, and the right digest."""
    document = json.loads(text)
    del document[SEAL]
    change(document)
    return json.dumps(sealed(document)).encode()


def own_file(document: Any, **values: Any) -> None:
    document["files"]["own"].update(values)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: b"", "is not JSON: Expecting value"),
        (lambda text: text[:30], "is not JSON: Unterminated string"),
        (lambda text: b"[]\n", "is no JSON object"),
        (lambda text: b"\xff" + text, "is not JSON: 'utf-8' codec"),
        (lambda text: b"[" * 100_000, "is not JSON: nested too deeply"),
        (lambda text: b"{}", "is damaged, or of another version: it has no digest"),
        (lambda text: text.replace(b'"cycle": 1', b'"cycle": 2'), "is damaged: its digest is another"),
        (
            lambda text: forged(text, lambda of: of.update(version=99)),
            "has version 99 of the format, and this program reads 2",
        ),
        (lambda text: forged(text, lambda of: of.pop("about")), "is no manifest of a checkpoint: "),
        (lambda text: forged(text, lambda of: of["about"].update(cycle="1")), "is no manifest of a checkpoint: "),
        (lambda text: forged(text, lambda of: own_file(of, size=-1, blocks=[])), "is no manifest of a checkpoint: "),
        (lambda text: forged(text, lambda of: own_file(of, blocks=["../../x"])), "is no manifest of a checkpoint: "),
        (lambda text: forged(text, lambda of: own_file(of, blocks=[None] * 9)), "is no manifest of a checkpoint: "),
        (lambda text: forged(text, lambda of: own_file(of, size=10**15)), "is no manifest of a checkpoint: "),
    ],
)
def test_damaged_manifest(folder: CheckpointFolder, damage: Any, message: str) -> None:
    folder.write(about_of(1), files(1))
    folder.close()
    manifest = folder.path / "checkpoint.json"
    manifest.write_bytes(damage(manifest.read_bytes()))
    assert refusal(folder.path).startswith(f"DIR/checkpoint.json: {message}")


def test_contents_that_do_not_fit_into_memory(folder: CheckpointFolder) -> None:
    folder.write(about_of(1), files(1))
    folder.close()
    manifest = folder.path / "checkpoint.json"
    huge = {"size": 1 << 40, "blocks": [None] * (1 << 20)}
    manifest.write_bytes(forged(manifest.read_bytes(), lambda of: own_file(of, **huge)))
    assert refusal(folder.path).startswith("DIR: its contents need about 1.1 TB of memory, and ")


def test_blocks_that_are_there_already_are_not_believed(folder: CheckpointFolder) -> None:
    folder.write(about_of(1), files(1))
    blocks_before = {name: (folder.path / "blocks" / name).read_bytes() for name in blocks(folder)}
    folder.close()
    for name in blocks_before:
        (folder.path / "blocks" / name).write_bytes(b"something else")
    (folder.path / "checkpoint.json").unlink()
    other = CheckpointFolder(folder.path, create=False)
    other.write(about_of(2), files(1))
    check(other, 2, files(1))
    other.close()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: b"", "is damaged: its digest is another"),
        (lambda data: data[: len(data) // 2], "is damaged: its digest is another"),
        (lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:], "is damaged: its digest is another"),
        (lambda data: None, "is missing"),
    ],
)
def test_damaged_block(folder: CheckpointFolder, damage: Any, message: str) -> None:
    folder.write(about_of(1), files(1))
    folder.close()
    for name in sorted(blocks(folder)):
        path = folder.path / "blocks" / name
        data = path.read_bytes()
        if len(data) < 200:
            continue
        left = damage(data)
        path.unlink() if left is None else path.write_bytes(left)
        assert refusal(folder.path) == f"DIR/blocks/{name}: {message}"
        path.write_bytes(data)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [_endless, os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", ["checkpoint.json", "blocks/"])
def test_what_is_no_file(folder: CheckpointFolder, put: Any, name: str) -> None:
    folder.write(about_of(1), files(1))
    folder.close()
    path = folder.path / (name if name.endswith("json") else name + min(blocks(folder)))
    path.unlink()
    put(path)
    reasons = {_endless: "is a link, which is not followed here", os.mkdir: "Is a directory"}
    reason = reasons.get(put, "is no plain file")
    assert refusal(folder.path) == f"DIR/{path.relative_to(folder.path)}: {reason}"


def test_blocks_are_of_a_size(folder: CheckpointFolder) -> None:
    assert folder_module._BLOCK == MEBIBYTE


def test_files_that_are_too_long_are_not_read(folder: CheckpointFolder) -> None:
    folder.write(about_of(1), {"own": files(1)["own"]})
    folder.close()
    (name,) = blocks(folder)
    path = folder.path / "blocks" / name
    content = path.read_bytes()
    for size, message in ((2 * MEBIBYTE, "is damaged: its digest is another"), (2 * MEBIBYTE + 1, "is too long: .*")):
        # What is behind the end of the packed data is not unpacked.
        path.write_bytes(content[:-1].ljust(size, b"\0"))
        with pytest.raises(InputError, match=f"{message}$"):
            folder.read().file("own")
    with (folder.path / "checkpoint.json").open("r+b") as file:
        file.truncate((1 << 26) + 1)
    with pytest.raises(InputError, match=r"checkpoint.json: is too long: "):
        folder.read()


FOREVER = 1 << 62


@dataclass
class FakeMachine:
    """A machine that does nothing but be somewhere."""

    cycle: int = 100
    on_sync: Callable[[int], int] | None = None
    saved: list[Any] = field(default_factory=list)

    def save(self, *, without: set[int]) -> SimpleNamespace:
        self.saved.append(without)
        return SimpleNamespace(cycle=self.cycle, hardware=NamedWords(fields=(), words=np.zeros(3, np.uint64)))


class Kept:
    """A run with checkpoints, whose clock is set by hand."""

    def __init__(self, folder: CheckpointFolder | None, every: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 50.0
        self.written: list[int] = []
        self.failures: list[str] = []
        self.machine: Any = FakeMachine()
        monkeypatch.setattr("cyscc.host.runs.checkpoints.writer.time.monotonic", lambda: self.now)
        monkeypatch.setattr("cyscc.host.runs.checkpoints.writer.notice", self.failures.append)
        machine: Any = self.machine
        self.checkpoints = CheckpointWriter(
            machine,
            folder,
            every=Interval.parse(every),
            about=lambda cycle: about_of(cycle, seconds=self.now),
            without=[8, 16, 8],
            on_written=self.written.append,
        )

    def sync(self, cycle: int, now: float) -> int:
        self.machine.cycle, self.now = cycle, now
        assert self.machine.on_sync is not None
        left: int = self.machine.on_sync(cycle)
        return left


def test_by_cycles(folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(folder, "1kcycles", monkeypatch)
    fresh: list[str] = []
    kept.checkpoints.register("driver", {"level": 1})
    kept.checkpoints.register("record", {"parts": np.int64(2)}, refresh=lambda: fresh.append("record"))
    assert kept.sync(600, 1e9) == 500
    assert kept.sync(1099, 1e9) == 1
    assert kept.written == []
    assert kept.sync(1100, 1e9) == 1000
    assert kept.sync(2099, 1e9) == 1
    assert kept.sync(2150, 60.0) == 1000
    assert kept.written == [1100, 2150]
    assert fresh == ["record"] * 2
    assert kept.machine.saved == [{8, 16}] * 2
    checkpoint = folder.read()
    assert checkpoint.about == about_of(2150, seconds=60.0)
    state = json.loads(checkpoint.file("state.json").tobytes())
    assert state["parts"] == {"driver": {"level": 1}, "record": {"parts": 2}}
    words = state["machine"].pop("hardware")["words"]
    assert state["machine"] == {"cycle": 2150}
    assert (words["dtype"], words["shape"], checkpoint.file(words["file"]).size) == ("<u8", [3], 24)
    assert kept.failures == []


def test_by_seconds(folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(folder, "30s", monkeypatch)
    kept.checkpoints.register("driver", {})
    assert kept.sync(10**9, 79.9) == 100 + FOREVER - 10**9
    assert kept.written == []
    assert kept.sync(10**9 + 1, 80.0) == FOREVER
    assert kept.sync(10**9 + 2, 109.9) == FOREVER - 1
    kept.sync(10**9 + 3, 110.0)
    assert kept.written == [10**9 + 1, 10**9 + 3]
    # An interval begins anew with each part of the run that is told.
    kept.now = 130.0
    kept.checkpoints.register("other", {})
    kept.sync(10**9 + 4, 159.0)
    assert len(kept.written) == 2
    kept.sync(10**9 + 5, 160.0)
    assert len(kept.written) == 3


def test_the_run_goes_on_where_a_checkpoint_cannot_be_written(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    kept = Kept(folder, "1kcycles", monkeypatch)
    kept.checkpoints.register("driver", {})
    kept.sync(1100, 60.0)
    with monkeypatch.context() as patch:
        patch.setattr(CheckpointFolder, "write", fail)
        assert kept.sync(2100, 70.0) == 1000
    assert kept.failures == [f"{folder.path}: No space left on device: no checkpoint at cycle 2,100; the run goes on"]
    assert kept.written == [1100]
    assert folder.read().about.cycle == 1100
    kept.sync(3100, 80.0)
    assert kept.written == [1100, 3100]


def test_a_run_from_the_beginning_has_no_state(folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Kept(folder, "1s", monkeypatch).checkpoints.restored("driver", dict, lambda state: None) is None
    # A run that is kept no more asks for nothing.
    assert Kept(None, "1s", monkeypatch).machine.on_sync is None


@dataclass
class Inner:
    """A part of a state."""

    cycles: int = 0


@dataclass
class State:
    """A state with defaults, as those of runs have them."""

    level: int
    begun: bool = False
    done: list[Inner] = field(default_factory=list)


def test_a_lacking_field_is_no_default(folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {"level": 1, "begun": True, "done": [{"cycles": 3}]}
    for cycle, state in enumerate(
        (whole, {"level": 1, "done": []}, {**whole, "done": [{}]}, {**whole, "more": 1}), start=1
    ):
        kept = Kept(folder, "1cycles", monkeypatch)
        kept.checkpoints.register("driver", state)
        kept.sync(1000 * cycle, 60.0)
        assert kept.failures == []
        machine: Any = FakeMachine()
        resumed = CheckpointWriter(
            machine, None, every=Interval.parse("1s"), about=about_of, without=[], resumed=folder.read()
        )
        if state is whole:
            assert resumed.restored("driver", State, lambda _: None) == State(level=1, begun=True, done=[Inner(3)])
        else:
            with refused(InputError, f"{folder.path}: is no checkpoint of this run: a state with other fields"):
                resumed.restored("driver", State, lambda _: None)
