"""The documentation of records says what the code says."""

from sim.observation.causes import CAUSES
from tests.conftest import ROOT
from tests.record.description import tables_text
from tests.test_docs import rows


def test_page_has_every_table() -> None:
    page = (ROOT / "docs" / "records.md").read_text()
    assert page.endswith("\n## Tables\n\n" + tables_text())


def test_page_has_every_cause() -> None:
    assert rows("records.md", "## Causes") == [[cause.title, cause.name, cause.about] for cause in CAUSES]
