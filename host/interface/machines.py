"""Machines that questions without a memory are about."""

from typing import TYPE_CHECKING, Any

from cyscc.host.specification.ask import SpecError
from cyscc.host.specification.overrides import MEMORY, Overrides
from cyscc.host.specification.run import resolved_configuration

if TYPE_CHECKING:
    from cyscc.sim.configuration import AcceleratorConfig

__all__ = ["machine"]


def machine(config: "str | AcceleratorConfig", overrides: Any = None) -> "AcceleratorConfig":
    """Return a configuration with overrides, given by name or as texts ``KEY=VALUE``.

    Raises
    ------
    SpecError
        It does not exist or is invalid, or an override is of a memory.
    """
    try:
        found = Overrides.given(overrides)
    except ValueError as error:
        raise SpecError("overrides", str(error)) from None
    if found.memory:
        raise SpecError("overrides", f"{MEMORY}{next(iter(found.memory))}: this command has no memory")
    return resolved_configuration(config, found)
