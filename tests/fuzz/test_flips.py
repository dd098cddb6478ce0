"""Flipped bits in the simulated memory: a few of a campaign, always the same ones."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz.flips import FLIPS, MACHINES
from tests.fuzz.setups import Table


@pytest.mark.parametrize(("machine", "memory", "flips"), [(MACHINES[0], "hc2", 40), (MACHINES[1], "fixed:9", 20)])
def test_flips_are_masked_or_found_out(machine: Table, memory: str, flips: int, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for index in range(flips):
        flip = FLIPS.draw(1, index)
        source = 0 if machine.get("bfs_only") else flip.run.source
        run = replace(flip.run, machine=machine, memory={"profile": memory}, source=source)
        finding = FLIPS.examine(replace(flip, run=run), tmp_path)
        assert finding.good, finding
        counts[finding.kind] += 1
    assert min(counts["masked"], counts["detected"]) > 0
