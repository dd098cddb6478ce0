"""Area of machines on FPGA families, from syntheses that are kept in the cache."""

import os
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cyscc.host.experiments.fpga.synthesis import Usage, usages
from cyscc.host.experiments.fpga.tools import YOSYS, check_tool
from cyscc.host.experiments.plan.plan import OnStep, Plan, no_step
from cyscc.host.experiments.studies.paper import DEVICES, FAMILY
from cyscc.sim.caching.folder import writable_cache
from cyscc.sim.caching.libraries import AREA_FOLDER
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.errors import SimulationError

_TITLES = {"luts": "LUTs", "registers": "registers", "block_ram": "block RAM in Kb"}


def _column(name: str, family: str) -> str:
    return name if family == FAMILY else f"{family}.{name}"


AREA = {
    _column(name, family): title if family == FAMILY else f"{title} on {family}"
    for family in DEVICES
    for name, title in _TITLES.items()
}
"""Columns of a machine's area, over all its AEs, and their titles; those of other families than `FAMILY` name it."""


def families_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the families that columns are of; those that are none of `AREA` are of no family."""
    wanted = set(columns)
    return tuple(family for family in DEVICES if any(_column(name, family) in wanted for name in _TITLES))


def checked_family(family: str) -> str:
    """Return a family. Raise a `ValueError` if there is no such family."""
    if family not in DEVICES:
        raise ValueError(f"unknown family {family!r}: there are {', '.join(DEVICES)}")
    return family


def machine_areas(
    plan: Plan, configs: Iterable[AcceleratorConfig], on_step: OnStep | None = None
) -> dict[tuple[AcceleratorConfig, str], Usage]:
    """Synthesise one AE of each machine for each family of a plan, and return its resources by machine and family.

    Modules that machines have in common are synthesised once, and those that any machine had before are found in the
    cache, which is the store.

    Parameters
    ----------
    plan : Plan
        Families, number of processes, and whether to synthesise what is not in the cache.
    configs : iterable of AcceleratorConfig
        The machines.
    on_step : callable, optional
        Progress callback, called for each module; without one, progress is a step of the plan's.

    Raises
    ------
    SimulationError
        Yosys is missing or failed.
    LookupError
        A synthesis is not in the cache, and is not to be made.
    """
    check_tool(YOSYS)
    cache = writable_cache() / AREA_FOLDER
    wanted = [(config, family) for config in dict.fromkeys(configs) for family in plan.families]
    steps = plan.progress.step("synthesising") if on_step is None else nullcontext(on_step)
    with steps as step, TemporaryDirectory(prefix="cyscc-area-") as work:
        own = replace(plan, folder=cache, scheduler=None, verify=False, again=False, on_step=step)
        found = usages(own, wanted, folder=Path(work))
    os.utime(own.store.folder.parent)  # its last use, for the eviction
    return found


def areas(
    plan: Plan, configs: Iterable[AcceleratorConfig], on_step: OnStep | None = None
) -> dict[AcceleratorConfig, dict[str, int]]:
    """Return the area of all AEs of each machine, by the columns of `AREA`; nothing if the plan has no families.

    See `machine_areas`.
    """
    found: dict[AcceleratorConfig, dict[str, int]] = {}
    usages_of = machine_areas(plan, configs, on_step) if plan.families else {}
    for (config, family), usage in usages_of.items():
        whole = usage.total * config.engines
        found.setdefault(config, {}).update({_column(name, family): getattr(whole, name) for name in _TITLES})
    return found


def known_areas(plan: Plan, configs: Iterable[AcceleratorConfig]) -> dict[AcceleratorConfig, dict[str, int]]:
    """Return the area of machines as `areas` does, without a synthesis; nothing if one would be needed."""
    try:
        return areas(replace(plan, families=(FAMILY,), make=False), configs, no_step)
    except (LookupError, SimulationError):
        return {}
