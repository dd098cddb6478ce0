"""Fixtures of the tests of the command line: a working directory with a graph, and fake machines."""

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.runs.checkpoints.folder import CheckpointFolder
from tests.host.fake_coprocessor import FakeCoprocessor

EDGES = "10 11\n11 12\n12 10\n12 13\n13 13\n14 15\n15 14\n14 16\n16 17\n17 16\n15 16\n"


class Workshop:
    """Makes fake machines and remembers how they were asked for."""

    def __init__(self) -> None:
        self.make: Callable[[], FakeCoprocessor] = FakeCoprocessor
        self.machine: FakeCoprocessor | None = None
        self.asked: dict[str, Any] = {}

    def create_machine(self, config: object, memory: object, **options: Any) -> FakeCoprocessor:
        self.asked = {"config": config, "memory": memory, **options}
        if options["waves"] is not None:
            options["waves"].write_text("$end")
        options["on_build"](1, 2, "compiling")
        self.machine = self.make()
        return self.machine


def interrupted(*arguments: str, after: int = 1) -> None:
    """Make a run that is interrupted after a number of checkpoints."""
    write, written = CheckpointFolder.write, list[object]()

    def ending(folder: CheckpointFolder, *what: Any) -> None:
        write(folder, *what)
        written.append(what)
        if len(written) == after:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CheckpointFolder, "write", ending)
        patch.setattr(sys, "argv", ["cyscc", *arguments])
        assert main() == 130
    assert len(written) == after


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have lines that hold the names of temporary folders, which may be long."""
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture
def workshop(monkeypatch: pytest.MonkeyPatch) -> Workshop:
    workshop = Workshop()
    module = types.ModuleType("cyscc.sim.machine")
    module.create_machine = workshop.create_machine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cyscc.sim.machine", module)
    return workshop


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workshop: Workshop) -> Path:
    """Return the working directory: it holds the graph g.txt, and every machine is a fake."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text(EDGES)
    return tmp_path
