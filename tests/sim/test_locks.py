"""Locks of folders: one holder at a time, and what a holder leaves is gone."""

import os
import threading
from pathlib import Path

from sim.locks import alone, lock_folder, locked, private_folder


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
    assert locked(one, shared=True)
    assert locked(two, shared=True)
    assert not locked(two)
    os.close(one)
    assert locked(two)
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
