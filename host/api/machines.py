"""Machines for Python: configurations and memories, by name or with values of one's own."""

from dataclasses import replace
from typing import Any

from sim.configuration import PRESETS, AcceleratorConfig, load_config
from sim.memory import Profile, parse_profile

__all__ = ["config_name", "configuration", "memory_name", "memory_profile"]

_OWN = "own"
"""What results call a configuration that is no preset."""


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


def config_name(config: str | AcceleratorConfig) -> str:
    """Return what results call a configuration."""
    if isinstance(config, str):
        return config
    return next((name for name, preset in PRESETS.items() if preset == config), _OWN)


def memory_name(memory: str | Profile) -> str:
    """Return what results call a memory profile."""
    return memory if isinstance(memory, str) else memory.name
