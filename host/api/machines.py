"""Machines for Python: configurations and memories, by name or with values of one's own."""

from dataclasses import replace
from typing import Any

from sim.configuration import AcceleratorConfig, load_config
from sim.memory import Profile, parse_profile

__all__ = ["configuration", "memory_profile"]


def configuration(name: str = "hc2", **changes: Any) -> AcceleratorConfig:
    """Return a configuration.

    Parameters
    ----------
    name : str
        A preset, one of `PRESETS`, or a TOML file.
    **changes
        Values in the place of its own: ``configuration("hc2", word_depth=256)``.

    Raises
    ------
    ValueError
        There is none of this name, or none with these values.
    TypeError
        A key is unknown.
    """
    return load_config(name).replace(**changes)


def memory_profile(name: str = "hc2", **changes: Any) -> Profile:
    """Return a memory profile.

    Parameters
    ----------
    name : str
        ``hc2``, ``hbm2``, ``fixed:CYCLES``, ``stress``, ``stress:SEED``, or a TOML file.
    **changes
        Values in the place of its own: ``memory_profile("hc2", links=4)``.

    Raises
    ------
    ValueError
        There is none of this name, or none with these values.
    TypeError
        A key is unknown.
    """
    profile = parse_profile(name)
    return replace(profile, **changes) if changes else profile
