"""The processors that a process may use: those it may run on, and the quotas of its control groups."""

import json
from pathlib import Path

import pytest

from cyscc.sim.processors import available_cores

QUOTAS = json.loads(Path(__file__).with_name("quotas.json").read_text())
"""Files of control groups, and the cores of eight that they leave."""


@pytest.mark.parametrize(("files", "cores"), [(each["files"], each["cores"]) for each in QUOTAS])
def test_quotas(files: dict[str, str], cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert available_cores(tmp_path) == cores
