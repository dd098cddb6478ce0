"""Runs on sound hardware equal their pins, to the cycle and the bit."""

import pytest

from tests.system.pinned import RUNS, PinnedRun, pins
from tests.system.runs import made


@pytest.mark.parametrize("run", [pytest.param(run, id=run.name) for run in RUNS])
def test_run_leaves_what_is_pinned(run: PinnedRun) -> None:
    with made(run.preset, run.memory) as machine:
        assert run.trace(machine).agrees(pins()[run.name])


def test_every_pin_is_of_a_run() -> None:
    assert list(pins()) == [run.name for run in RUNS]
