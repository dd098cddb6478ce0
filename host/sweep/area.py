"""What the machines of a sweep take on the FPGA of an HC-2."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from host.measuring.measurements import Measurements
from host.measuring.requests import OnStep
from host.measuring.store import Store
from host.studies.fpga.synthesis import usages
from host.studies.fpga.tools import YOSYS, check_tool
from host.sweep.rows import Row
from host.sweep.study import Study

__all__ = ["AREA", "check_area", "with_area"]

AREA = {"luts": "LUTs", "registers": "registers", "block_ram": "block RAM in Kb"}
"""Columns of what a machine takes, all its AEs together, and what people call them."""

_FAMILY = "xc5v"


def check_area() -> None:
    """Refuse to go on without the tool.

    Raises
    ------
    SimulationError
        It is not installed.
    """
    check_tool(YOSYS)


def with_area(study: Study, rows: Sequence[Row], folder: Path, *, jobs: int, on_step: OnStep) -> list[Row]:
    """Return rows with what their machines take. Each kind of kernel and AE is synthesised once, and found again.

    Parameters
    ----------
    study : Study
        The study.
    rows : sequence of Row
        Its rows, in its order.
    folder : Path
        Where measurements are kept.
    jobs : int
        Processes that synthesise side by side.
    on_step : callable
        Told of each module that is there.

    Raises
    ------
    SimulationError
        Yosys failed.
    """
    measurements = Measurements(Store(folder), jobs=jobs, verify=False, on_step=on_step)
    configs = list(dict.fromkeys(each.point.spec.configuration for each in study.points))
    with TemporaryDirectory(prefix="cyscc-sweep-") as work:
        found = usages(measurements, [(config, _FAMILY) for config in configs], folder=Path(work))
    area = {}
    for config in configs:
        total = found[config, _FAMILY].total * config.engines
        area[config] = {name: getattr(total, name) for name in AREA}
    return [{**row, **area[each.point.spec.configuration]} for each, row in zip(study.points, rows, strict=True)]
