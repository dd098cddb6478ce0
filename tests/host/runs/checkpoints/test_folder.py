"""The folder of a checkpoint: whole or absent, and whatever is damaged in it refused."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.host.output.errors import InputError
from cyscc.host.runs.checkpoints import folder as folder_module
from cyscc.host.runs.checkpoints.folder import CheckpointFolder

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


def check(folder: CheckpointFolder, about: dict[str, Any], expected: Files) -> None:
    checkpoint = folder.read()
    assert checkpoint.about == about
    for name, content in expected.items():
        assert np.array_equal(checkpoint.file(name), content)


def test_later_checkpoints_take_the_place_of_earlier_ones(folder: CheckpointFolder) -> None:
    assert not folder.complete
    folder.write({"n": 1}, files(1))
    before = blocks(folder)
    check(folder, {"n": 1}, files(1))
    folder.write({"n": 2}, files(2))
    check(folder, {"n": 2}, files(2))
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
    folder.write({"n": 0}, files(0))
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
                folder.write({"n": n}, files(n))
                complete = True
            except EndError:
                complete = False
        found = folder.read().about["n"]
        assert found in (newest, n)
        newest = found
        check(folder, {"n": found}, files(found))
        if complete:
            break
    assert complete
    assert n > 10
    assert len(blocks(folder)) == 5


def test_removed(folder: CheckpointFolder) -> None:
    folder.write({}, files(1))
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


def rewritten(manifest: bytes, change: Any) -> bytes:
    head, _, body = manifest.partition(b"\n")
    title = json.loads(head)
    change(title)
    return json.dumps(title).encode() + b"\n" + body


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: b"", "is no manifest of a checkpoint"),
        (lambda text: text[:30], "is no manifest of a checkpoint"),
        (lambda text: b"[]\n", "is no manifest of a checkpoint"),
        (lambda text: b"\xff" + text, "is no manifest of a checkpoint"),
        (lambda text: b"[" * 100_000, "is no manifest of a checkpoint"),
        (lambda text: rewritten(text, lambda title: title.update(format="other")), "is no manifest of a checkpoint"),
        (
            lambda text: rewritten(text, lambda title: title.update(version=99)),
            "has version 99 of the format, and this program reads 1",
        ),
        (lambda text: text[:-20], "is damaged: its digest is another"),
        (lambda text: text.replace(b'"n": 1', b'"n": 2'), "is damaged: its digest is another"),
    ],
)
def test_damaged_manifest(folder: CheckpointFolder, damage: Any, message: str) -> None:
    folder.write({"n": 1}, files(1))
    folder.close()
    manifest = folder.path / "checkpoint.json"
    manifest.write_bytes(damage(manifest.read_bytes()))
    assert refusal(folder.path) == f"DIR/checkpoint.json: {message}"


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
    folder.write({}, files(1))
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
    folder.write({}, files(1))
    folder.close()
    path = folder.path / (name if name.endswith("json") else name + min(blocks(folder)))
    path.unlink()
    put(path)
    reason = "Is a directory" if put is os.mkdir else "is no plain file"
    assert refusal(folder.path) == f"DIR/{path.relative_to(folder.path)}: {reason}"


def test_blocks_are_of_a_size(folder: CheckpointFolder) -> None:
    assert folder_module._BLOCK == MEBIBYTE


def test_files_that_are_too_long_are_not_read(folder: CheckpointFolder) -> None:
    folder.write({}, {"own": files(1)["own"]})
    folder.close()
    (name,) = blocks(folder)
    path = folder.path / "blocks" / name
    content = path.read_bytes()
    for size, message in ((2 * MEBIBYTE, "its digest is another"), (2 * MEBIBYTE + 1, "it is too long")):
        # What is behind the end of the packed data is not unpacked.
        path.write_bytes(content[:-1].ljust(size, b"\0"))
        with pytest.raises(InputError, match=f"is damaged: {message}$"):
            folder.read().file("own")
    with (folder.path / "checkpoint.json").open("r+b") as file:
        file.truncate((1 << 30) + 1)
    with pytest.raises(InputError, match=r"checkpoint.json: is damaged: it is too long$"):
        folder.read()
