"""The documentation of records says what the code says."""

from host.record.tables import MODULES
from sim.executors import samples
from sim.observation.causes import CAUSES
from tests.conftest import ROOT
from tests.record.description import tables_text
from tests.test_docs import rows


def test_page_has_every_table() -> None:
    page = (ROOT / "docs" / "records.md").read_text()
    assert page.endswith("\n## Tables\n\n" + tables_text())


def test_page_has_every_cause() -> None:
    assert rows("records.md", "## Causes") == [[cause.title, cause.name, cause.about] for cause in CAUSES]


def test_modules_are_those_of_the_samples() -> None:
    assert MODULES == samples.MODULES
