"""Latency, throughput and order of events of each component, cycle by cycle."""

import pytest

from tests.hw.timings import TIMINGS
from tests.hw.timings.timing import Timing


@pytest.mark.parametrize("timing", [pytest.param(timing, id=timing.claim) for timing in TIMINGS])
def test_a_component_keeps_its_timing(timing: Timing) -> None:
    timing.check()
