"""The folder of a checkpoint: whole or absent, and whatever is damaged in it refused."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cyscc.host.output.documents import SEAL, sealed
from cyscc.host.output.errors import InputError
from cyscc.host.runs.checkpoints import folder as folder_module
from cyscc.host.runs.checkpoints.folder import CheckpointFolder
from tests.host.runs.checkpoints.about import about_of

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
