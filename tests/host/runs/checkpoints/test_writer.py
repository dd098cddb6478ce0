"""Checkpoints: their times, contents and messages."""

import errno
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cyscc.host.output.errors import InputError
from cyscc.host.runs.checkpoints.folder import CheckpointFolder
from cyscc.host.runs.checkpoints.writer import CheckpointWriter
from cyscc.host.specification.run import Interval
from cyscc.sim.named_words import NamedWords
from tests.host.runs.checkpoints.about import about_of
from tests.refusals import refused

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


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    made = CheckpointFolder(tmp_path / "kept", create=True)
    yield made
    made.close()


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
