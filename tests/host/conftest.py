"""Answers as they are pinned, whole, in a folder beside the tests; ``--pins`` writes them."""

from collections.abc import Callable

import pytest

from tests.host.experiments.told import answer_path

Answers = Callable[[str, str], None]


@pytest.fixture
def answers(request: pytest.FixtureRequest) -> Answers:
    """Return what compares a text with that of its name, or writes it with ``--pins``."""

    def check(name: str, text: str) -> None:
        path = answer_path(str(request.path), name)
        if request.config.getoption("--pins"):
            path.write_text(text)
        assert text == path.read_text()

    return check
