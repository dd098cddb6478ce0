"""Each component answers its stimuli as is pinned."""

import pytest

from tests.alone.parts import all_parts
from tests.alone.pins import pins
from tests.alone.surroundings import stimuli_of
from tests.alone.traces import trace

PARTS = all_parts()


def test_every_component_is_pinned() -> None:
    assert list(pins()) == list(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_a_component_answers_as_is_pinned(name: str) -> None:
    assert trace(stimuli_of(PARTS[name], name)).digest == pins()[name]
