"""Answers are told, and figures drawn, as they always were: to the letter, the number and the colour."""

import pytest

from tests.host.experiments.studies.drawn import FIGURES, STUDIES, answer_of, digests, pins
from tests.host.experiments.told import answer_path, told


@pytest.mark.parametrize("name", STUDIES)
def test_answers_are_as_pinned(name: str) -> None:
    assert told(answer_of(name)) == answer_path(__file__, name).read_text()


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_as_pinned(name: str) -> None:
    assert digests(name) == pins()[name]
