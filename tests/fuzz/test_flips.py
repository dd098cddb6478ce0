"""Flipped bits in the simulated memory: a few of a campaign, always the same ones."""

from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz.flips import GOOD, outcome_of


@pytest.mark.parametrize(("config", "memory", "flips"), [("test", "hc2", 40), ("test-bfs", "fixed:9", 20)])
def test_flips_are_masked_or_found_out(config: str, memory: str, flips: int, tmp_path: Path) -> None:
    outcomes = [outcome_of(config, memory, 1, number, tmp_path) for number in range(flips)]
    assert [outcome for outcome in outcomes if outcome.kind not in GOOD] == []
    counts = Counter(outcome.kind for outcome in outcomes)
    assert min(counts["masked"], counts["detected"]) > 0
