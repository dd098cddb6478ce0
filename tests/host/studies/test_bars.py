"""The bars, measured with the real tools: an AE on a Virtex-5, and 150 MHz on an ECP5."""

from pathlib import Path

import pytest

from host.studies.fpga.engine import Synthesiser
from host.studies.fpga.paper import BAR, Amounts
from host.studies.fpga.timing import COMPONENTS, measure
from host.studies.fpga.tools import NEXTPNR
from hw.config import PRESETS

pytestmark = pytest.mark.long


def test_an_engine_takes_at_most_half_of_the_published_one(tmp_path: Path) -> None:
    usage = Synthesiser(tmp_path).usage(PRESETS["hc2"], family="xc5v")
    counts = {component.name: component.count for component in usage.components}
    assert counts == {"bfs_kernel": 16, "intersection_kernel": 8, "share": 8, "shell": 1}
    assert sum(component.resources.luts for component in usage.components) == usage.total.luts
    assert Amounts.of(usage.total).within(BAR) == (True, True, True), Amounts.of(usage.total)


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_median_of_five_seeds_reaches_the_clock(name: str, tmp_path: Path) -> None:
    pytest.importorskip(NEXTPNR, reason="`make timing` installs it")
    [timing] = measure(PRESETS["hc2"], names=[name], seeds=5, jobs=1, folder=tmp_path)
    assert len(timing.runs) == 5
    assert timing.clock_mhz == 150
    assert timing.median.fmax >= 150, [run.fmax for run in timing.runs]
