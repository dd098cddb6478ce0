"""Area of machines for the Python interface."""

from collections.abc import Mapping
from typing import Any

from cyscc.host.experiments.fpga.area import Area, checked_family, machine_areas
from cyscc.host.experiments.studies.paper import FAMILY
from cyscc.host.output.progress import Progress
from cyscc.host.specification.overrides import Overrides
from cyscc.host.specification.run import checked_number, resolved_configuration
from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["area"]


def area(
    config: AcceleratorConfig | str = "hc2",
    *,
    family: str = FAMILY,
    overrides: Mapping[str, Any] | None = None,
    jobs: int = 1,
    progress: bool = False,
) -> Area:
    """Synthesise a machine, and return its area. Modules that any machine had before are found in the cache.

    Parameters
    ----------
    config : AcceleratorConfig or str
        The configuration, its name or its file.
    family : str
        The FPGA family: ``xc5v`` or ``xc6v``.
    overrides : mapping, optional
        Values that replace those of the configuration, by name: ``{"word_depth": 64}``.
    jobs : int
        Number of processes; with several, a script needs ``if __name__ == "__main__":``.
    progress : bool
        Show progress on standard error if it is a terminal.

    Raises
    ------
    ValueError
        The configuration or the family does not exist, or the configuration is invalid.
    InputError
        A stored synthesis is damaged.
    SimulationError
        Yosys is missing or failed.
    """
    jobs = checked_number("jobs", jobs, low=1)
    machine = resolved_configuration(config, Overrides.of(overrides or {}))
    families = (checked_family(family),)
    with Progress(quiet=not progress).step("synthesising") as step:
        return machine_areas([machine], families=families, jobs=jobs, on_step=step)[machine, family]
