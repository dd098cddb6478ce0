"""Recorded runs, each made once for all tests of a process."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.output.progress import Progress
from cyscc.host.record.reader import Record
from cyscc.host.replay.replaying import RecordReplay
from cyscc.host.runs.rerun import RerunSetting

GRAPH = "".join(f"{v} {(v * 5 + step) % 40}\n" for v in range(40) for step in (1, 2, 7))

Recorded = Callable[..., Record]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Return a function that returns the record ``seen`` of a run, beside its graph ``g.txt``."""

    @cache
    def make(*options: str, graph: str = GRAPH, command: Sequence[str] = ("scc",)) -> Record:
        folder = tmp_path_factory.mktemp("recorded")
        algorithm, *more = command
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            Path("g.txt").write_text(graph)
            given = ("--config", "test") if "--config" not in options else ()
            assert main([algorithm, "g.txt", *more, *given, *options, "--record", "seen", "--quiet"]) == 0
        return Record(folder / "seen")

    return make


def setting_of(record: Record) -> RerunSetting:
    """Return how a recorded run is made again."""
    return RerunSetting(progress=Progress(quiet=True), threads=2, graph=str(record.folder.parent / "g.txt"))


def replayed(record: Record) -> RecordReplay:
    """Return a recorded run that can be made again."""
    return RecordReplay(record, setting_of(record))
