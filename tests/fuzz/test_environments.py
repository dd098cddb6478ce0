"""Faults of the environment end a run with one line and its status, and leave nothing; the quickest of them here."""

from pathlib import Path

import pytest

from tests.fuzz.environments import FAULTS, run_fault

SHORT = (
    "standard output full",
    "address space of 900 MB",
    "16 open files",
    "no compiler",
    "SIGTERM",
    "empty compiled code",
)


@pytest.mark.parametrize("name", SHORT)
def test_fault(name: str, tmp_path: Path) -> None:
    assert run_fault(FAULTS[name], tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(FAULTS.keys() - set(SHORT)))
def test_further_fault(name: str, tmp_path: Path) -> None:
    assert run_fault(FAULTS[name], tmp_path) == []
