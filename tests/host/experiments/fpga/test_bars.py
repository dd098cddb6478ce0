"""The bars, measured with the real tools: an AE on a Virtex-5, and 150 MHz on an ECP5."""

from pathlib import Path

import pytest

from cyscc.host.experiments.fpga.synthesis import usages
from cyscc.host.experiments.fpga.timing import components_of, measure
from cyscc.host.experiments.fpga.tools import NEXTPNR
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.studies.paper import BAR, FITTING
from cyscc.hw.config import PRESETS

pytestmark = pytest.mark.long


def test_an_engine_takes_at_most_half_of_the_published_one(tmp_path: Path) -> None:
    measurements = Plan(folder=tmp_path / "store", verify=False)
    [usage] = usages(measurements, [(PRESETS["hc2"], "xc5v")], folder=tmp_path).values()
    counts = {component.name: component.count for component in usage.components}
    assert counts == {"bfs_kernel": 16, "intersection_kernel": 8, "share": 8, "shell": 1}
    assert sum(component.resources.luts for component in usage.components) == usage.total.luts
    assert usage.total.amounts().within(BAR) == (True, True, True), usage.total.amounts()


def test_an_engine_with_all_options_fits_beside_the_vendors_interface(tmp_path: Path) -> None:
    measurements = Plan(folder=tmp_path / "store", verify=False)
    [usage] = usages(measurements, [(PRESETS["fast"], "xc5v")], folder=tmp_path).values()
    counts = {component.name: component.count for component in usage.components}
    slices = dict.fromkeys(("kernel_slice", "link_slice", "exchange_slice"), 16)
    kernels = {"bfs_kernel": 16, "intersection_kernel": 8}
    assert counts == {**slices, **kernels, "share": 8, "shell": 1, "between them": 1}
    assert usage.total.amounts().within(FITTING) == (True, True, True), usage.total.amounts()


@pytest.mark.parametrize(
    ("config", "name"), [(config, name) for config in ("hc2", "fast") for name in components_of(PRESETS[config])]
)
def test_the_median_of_five_seeds_reaches_the_clock(config: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip(NEXTPNR, reason="`make timing` installs it")
    measurements = Plan(folder=tmp_path / "store", verify=False)
    [timing] = measure(measurements, PRESETS[config], names=[name], seeds=5, folder=tmp_path)
    assert len(timing.runs) == 5
    assert timing.clock_mhz == 150
    assert timing.median.fmax >= 150, [run.fmax for run in timing.runs]
