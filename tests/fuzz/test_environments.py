"""Faults of the environment end a run with one line and its status, and leave nothing; the quickest of them here."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz.environments import FAULTS, Scene, run_fault

SHORT = ("standard output full", "address space of 900 MB", "SIGTERM")
HARMLESS = ("16 open files", "no compiler", "limit of the cache that is no size")


@pytest.mark.parametrize(
    "name", [*SHORT, *(pytest.param(name, marks=pytest.mark.long) for name in sorted(FAULTS.keys() - set(SHORT)))]
)
def test_fault(name: str, tmp_path: Path) -> None:
    assert run_fault(FAULTS[name], tmp_path) == []


def test_several_faults_that_end_no_run(tmp_path: Path) -> None:
    def spoil(scene: Scene) -> None:
        for name in HARMLESS:
            FAULTS[name].spoil(scene)

    assert run_fault(replace(FAULTS[HARMLESS[-1]], spoil=spoil), tmp_path) == []
