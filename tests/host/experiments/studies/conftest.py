"""A computer for documents that say where software ran."""

import pytest


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("study", "attia"):
        monkeypatch.setattr(f"cyscc.host.experiments.studies.{module}.processor_name", lambda: "Abacus 2000")
    monkeypatch.setattr("cyscc.host.experiments.studies.attia.available_cores", lambda: 5)
