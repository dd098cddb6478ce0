"""A computer for documents that say where software ran."""

import pytest

from tests.host.experiments.studies.results import patch_computer


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    patch_computer(monkeypatch)
