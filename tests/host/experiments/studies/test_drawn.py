"""Figures are drawn as they always were, to the number and the colour."""

import pytest

from tests.host.experiments.studies.drawn import FIGURES, digests, pins


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_as_pinned(name: str) -> None:
    assert digests(name) == pins()[name]
