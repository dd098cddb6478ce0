"""Area of machines on an FPGA family, over all their AEs."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from cyscc.host.experiments.fpga.synthesis import usages
from cyscc.host.experiments.measuring.measurements import Measurements, OnStep
from cyscc.host.experiments.measuring.store import Store
from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["AREA", "areas"]

AREA = {"luts": "LUTs", "registers": "registers", "block_ram": "block RAM in Kb"}
"""Columns of a machine's area, over all its AEs, and their titles."""


def areas(
    configs: Iterable[AcceleratorConfig], *, folder: Path, jobs: int, on_step: OnStep, family: str = "xc5v"
) -> dict[AcceleratorConfig, dict[str, int]]:
    """Synthesise one AE of each machine, modules that they share only once, and return the area of all AEs.

    Parameters
    ----------
    configs : iterable of AcceleratorConfig
        The machines.
    folder : Path
        Folder of the store of measurements, whose results are reused.
    jobs : int
        Number of processes for the synthesis.
    on_step : callable
        Progress callback, called for each module.
    family : str
        ``xc5v`` or ``xc6v``.

    Returns
    -------
    dict
        The columns of `AREA` by machine.

    Raises
    ------
    SimulationError
        Yosys is missing or failed.
    """
    measurements = Measurements(Store(folder), jobs=jobs, verify=False, on_step=on_step)
    wanted = [(config, family) for config in dict.fromkeys(configs)]
    with TemporaryDirectory(prefix="cyscc-area-") as work:
        found = usages(measurements, wanted, folder=Path(work))
    totals = {config: found[config, family].total * config.engines for config, _ in wanted}
    return {config: {name: getattr(total, name) for name in AREA} for config, total in totals.items()}
