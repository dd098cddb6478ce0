"""Charts are drawn as they always were, to the number and the colour."""

import pytest

from tests.host.analysis.report.pins import PAGES, digests, pins


@pytest.mark.parametrize("page", PAGES)
def test_charts_are_as_pinned(page: str) -> None:
    assert digests(page) == pins()[page]
