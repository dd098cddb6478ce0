"""Files and documents of the simulator."""

import errno
import fcntl
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from cyscc.sim import files
from cyscc.sim.documents import LONGEST_SETTING, DocumentError, read_plain, read_toml
from cyscc.sim.files import alone, lock_folder, locked, private_folder, remove_left, replaced, temporary_file
from cyscc.sim.observation.waves.variables import Variable
from cyscc.sim.observation.waves.writer import FstWriter


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_looked_at", set())


def test_names_differ_and_nothing_is_left(tmp_path: Path) -> None:
    target = tmp_path / ("long" * 50 + ".vcd")
    with temporary_file(target) as one, temporary_file(target) as other:
        assert one != other
        assert {path.suffix for path in (one, other)} == {".vcd"}
        assert {path.parent for path in (one, other)} == {tmp_path}
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter([b"\0" * 8, b"\1" * 8])
    monkeypatch.setattr(os, "urandom", lambda size: next(names))
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f".out.cyscc-{'00' * 8}").symlink_to(victim)
    with pytest.raises(FileExistsError), temporary_file(tmp_path / "out"):
        pass
    assert victim.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 2, "what somebody else put there stays"


@pytest.mark.parametrize("function", ["locked", "same_file"])
def test_an_interrupt_while_it_is_made_leaves_nothing(
    function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **how: object) -> None:
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(files, function, interrupt)
    with pytest.raises(KeyboardInterrupt), temporary_file(tmp_path / "out"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_dead_process_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / f".run.cyscc-{'ab' * 8}.vcd"
    held = tmp_path / f".run.cyscc-{'cd' * 8}.vcd"
    kept = [tmp_path / ".run.vcd", tmp_path / ".run.cyscc-1.vcd", tmp_path / f"run.cyscc-{'ab' * 8}.vcd", held]
    for path in (left, *kept):
        path.touch()
    link = tmp_path / f".link.cyscc-{'ab' * 8}"
    link.symlink_to(kept[0])
    with held.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with temporary_file(tmp_path / "other"):
            pass
        assert set(tmp_path.iterdir()) == {*kept, link}


def _take_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Lock each of the next two new files before its owner does, as abandoned, and remove it; return these."""
    taken: list[Path] = []

    def late(*given: Any, **how: Any) -> bool:
        (path,) = (path for path in folder.iterdir() if path.suffix != ".hier")
        if len(taken) < 2:
            taken.append(path)
            other = os.open(path, os.O_RDWR)
            fcntl.flock(other, fcntl.LOCK_EX)

            def remove() -> None:
                path.unlink()
                os.close(other)

            threading.Timer(0.02, remove).start()
        return locked(*given, **how)

    monkeypatch.setattr(files, "locked", late)
    return taken


def test_new_file_that_another_process_takes_for_abandoned_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = _take_first(tmp_path, monkeypatch)
    with replaced(tmp_path / "out") as path:
        path.write_bytes(b"whole")
    assert len(taken) == 2
    assert (tmp_path / "out").read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


def test_waveform_file_is_held_until_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = Variable(number=1, path=("top", "signal"), width=1)
    with temporary_file(tmp_path / "out.fst") as path:
        taken = _take_first(tmp_path, monkeypatch)
        writer = FstWriter(path)
        assert len(taken) == 2
        writer.declare([variable])
        writer.show(0, [(variable, 1)])
        writer.finish(3)
        monkeypatch.undo()
        remove_left(tmp_path)
        assert list(tmp_path.iterdir()) == [path]
        writer.discard()
        remove_left(tmp_path)
        assert list(tmp_path.iterdir()) == []


def test_locks_that_fail_are_not_locks_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int, kind: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    left = tmp_path / f".run.cyscc-{'ab' * 8}.vcd"
    left.touch()
    monkeypatch.setattr(fcntl, "flock", fail)
    with replaced(tmp_path / "out") as path:
        path.write_bytes(b"whole")
    assert set(tmp_path.iterdir()) == {tmp_path / "out", left}, "nothing counts as abandoned"
    with pytest.raises(OSError, match="cannot be locked: No locks available"):
        lock_folder(tmp_path)
    with pytest.raises(OSError, match="cannot be locked: No locks available"), alone(tmp_path / "work"):
        pass
    assert not (tmp_path / "work").exists()


def test_folder_that_its_owner_has_removed_is_not_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    def late(*_: object) -> bool:
        folder.rmdir()
        return True

    monkeypatch.setattr(files, "locked", late)
    with pytest.raises(FileNotFoundError):
        lock_folder(folder)


def test_a_file_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.pread(descriptor, 9, 0)))
    with replaced(target) as path:
        path.write_bytes(b"old")
        assert not target.exists()
    assert (target.read_bytes(), synced) == (b"old", [])
    with replaced(target, durable=True, mode=0o640) as path:
        path.write_bytes(b"new")
    assert (target.read_bytes(), target.stat().st_mode & 0o777, synced) == (b"new", 0o640, [b"new"])

    def fail() -> None:
        with replaced(target) as path:
            path.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_has_one_holder(tmp_path: Path) -> None:
    first = lock_folder(tmp_path)
    assert first is not None
    assert lock_folder(tmp_path) is None
    with private_folder(tmp_path) as mine:
        assert not mine
    os.close(first)
    with private_folder(tmp_path) as mine:
        assert mine
        assert lock_folder(tmp_path) is None


def test_shared_locks_go_together(tmp_path: Path) -> None:
    one, two = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))
    assert locked(one, tmp_path, shared=True)
    assert locked(two, tmp_path, shared=True)
    assert not locked(two, tmp_path)
    os.close(one)
    assert locked(two, tmp_path)
    os.close(two)


def test_who_asks_for_the_same_folder_waits_and_finds_it_empty(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "left").mkdir()
    (folder / "left" / "file").touch()
    waits = threading.Event()
    seen: list[list[Path]] = []

    def other() -> None:
        with alone(folder, on_wait=waits.set):
            seen.append(list(folder.iterdir()))

    with alone(folder) as given:
        assert (given, list(folder.iterdir())) == (folder, [])
        thread = threading.Thread(target=other)
        thread.start()
        assert waits.wait(10)
        (folder / "made").touch()
        assert seen == []
    thread.join(10)
    assert seen == [[]]
    assert not folder.exists()


def test_a_file_may_have_as_many_bytes_as_are_allowed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1234")
    assert read_plain(file, most=4) == b"1234"
    with pytest.raises(DocumentError, match=r"^is too long: it may have 3 bytes$"):
        read_plain(file, most=3)


def test_a_file_that_hides_its_size_is_limited_too() -> None:
    assert os.stat("/proc/self/status").st_size == 0
    with pytest.raises(DocumentError, match=r"^is too long: it may have 10 bytes$"):
        read_plain("/proc/self/status", most=10)


def test_devices_pipes_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(DocumentError, match=r"^is no plain file$"):
            read_plain(path, most=10)
    with pytest.raises(IsADirectoryError):
        read_plain(tmp_path, most=10)


def test_links_are_followed_only_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_plain(tmp_path / "link", most=1) == b"1"
    with pytest.raises(DocumentError, match=r"^is a link, which is not followed here$"):
        read_plain(tmp_path / "link", most=1, follow=False)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "file.toml").write_bytes(b'\xef\xbb\xbfpreset = "test"\n')
    assert read_toml(tmp_path / "file.toml") == {"preset": "test"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = " + b"[" * 100_000, "not TOML: nested too deeply"),
        (b"a = \xff", "not TOML: 'utf-8' codec can't decode byte 0xff in position 4: invalid start byte"),
        (b"a", r"not TOML: .*"),
        (b"#" * (LONGEST_SETTING + 1), "is too long: it may have 1,048,576 bytes"),
    ],
)
def test_what_is_no_toml_is_refused_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_bytes(content)
    with pytest.raises(DocumentError, match=f"^{message}$"):
        read_toml(file)
