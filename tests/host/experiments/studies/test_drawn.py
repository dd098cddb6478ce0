"""Answers, requests and figures are as they always were: to the letter, the number and the colour."""

import pytest

from tests.host.experiments.studies.drawn import FIGURES, STUDIES, digests, pins, text_of
from tests.host.experiments.told import answer_path


@pytest.mark.parametrize("name", STUDIES)
def test_answers_and_requests_are_as_pinned(name: str) -> None:
    assert text_of(name) == answer_path(__file__, name).read_text()


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_as_pinned(name: str) -> None:
    assert digests(name) == pins()[name]
