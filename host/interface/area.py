"""`area`: the resources of a machine on an FPGA."""

from collections.abc import Mapping
from typing import Any

from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.fpga.area import checked_family, machine_areas
from cyscc.host.experiments.fpga.hierarchy import Resources, Usage
from cyscc.host.experiments.fpga.synthesis import RESOURCES, component_rows
from cyscc.host.experiments.studies.paper import FAMILY
from cyscc.host.experiments.studies.study import Columns, table
from cyscc.host.interface.notes import Wanted
from cyscc.host.output.progress import Progress
from cyscc.host.specification.numbers import checked_number
from cyscc.host.specification.overrides import Overrides
from cyscc.host.specification.run import resolved_configuration
from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["Area", "area"]


class Area(Answer):
    """Area of a machine on an FPGA family.

    Attributes
    ----------
    config : AcceleratorConfig
        The machine.
    family : str
        ``xc5v`` or ``xc6v``.
    engine, machine : Resources
        Resources of one AE, and of all.
    components : pandas.DataFrame
        The kinds of components of an AE, the largest first: resources of one, and of all of them.
    """

    def __init__(self, config: AcceleratorConfig, family: str, usage: Usage) -> None:
        self.config, self.family = config, family
        self.engine: Resources = usage.total
        self.machine = usage.total * config.engines
        columns: Columns = {"component": "{}", "number": "{}", **RESOURCES}
        components = table("components of one AE", component_rows(usage), columns)
        super().__init__(
            title=f"Area on {family}",
            tables={"components": components},
            fields={"engine": self.engine.document(), "machine": self.machine.document()},
        )


def area(
    config: AcceleratorConfig | str = "hc2",
    *,
    family: str = FAMILY,
    overrides: Mapping[str, Any] | None = None,
    jobs: int = 1,
    progress: Wanted = False,
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
    with Progress.of(progress).step("synthesising") as step:
        found = machine_areas([machine], families=families, jobs=jobs, on_step=step)
    return Area(machine, family, found[machine, family])
