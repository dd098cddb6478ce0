"""Overrides of single values of a configuration or a memory: ``neighbour_depth=64``, ``memory.bank_busy=20``."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from sim.configuration import AcceleratorConfig

if TYPE_CHECKING:
    from sim.memory import Profile

__all__ = ["MEMORY", "NO_OVERRIDES", "Overrides", "toml_text"]

MEMORY = "memory."
"""Prefix of the names of a memory's parameters."""


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Values in the place of those that a configuration and a memory have by themselves.

    Parameters
    ----------
    config, memory : dict
        Values by the names of fields of the configuration, and of parameters of the memory profile.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Overrides":
        """Return the overrides that values make, by names of which those of the memory begin with `MEMORY`."""
        memory = {name.removeprefix(MEMORY): value for name, value in values.items() if name.startswith(MEMORY)}
        return cls(config={name: value for name, value in values.items() if not name.startswith(MEMORY)}, memory=memory)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Overrides":
        """Return the overrides that texts ``KEY=VALUE`` make; a value is one of TOML.

        Raises
        ------
        ValueError
            A text is none, or a key is given twice. One line, which quotes it.
        """
        values: dict[str, Any] = {}
        for text in texts:
            name, equals, value = (part.strip() for part in text.partition("="))
            if not (name and equals):
                raise ValueError(f"{text!r} is not KEY=VALUE")
            if name in values:
                raise ValueError(f"{name!r} is given twice")
            values[name] = _value(name, value)
        return cls.of(values)

    def values(self) -> dict[str, Any]:
        """Return all values by name, as `of` takes them."""
        return {**self.config, **{MEMORY + name: value for name, value in self.memory.items()}}

    def applied_to(self, config: AcceleratorConfig) -> AcceleratorConfig:
        """Return a configuration with the overrides.

        Raises
        ------
        ValueError
            There is no such field, or no such machine. One line, which quotes what is wrong.
        """
        known = [each.name for each in fields(config)]
        for name in self.config:
            if name not in known:
                hint = "".join(f"; did you mean {match}?" for match in get_close_matches(name, known, n=1))
                raise ValueError(f"unknown key {name!r}: there are {', '.join(known)}, {MEMORY}KEY{hint}")
        return config.replace(**self.config) if self.config else config

    def applied_to_memory(self, profile: "Profile") -> "Profile":
        """Return a memory profile with the overrides.

        Raises
        ------
        ValueError
            It has no such parameter, or there is no such memory. One line, which quotes what is wrong.
        """
        from sim.memory import changed_profile

        return changed_profile(profile, self.memory)

    def config_text(self, name: str) -> str:
        """Return what people read of a configuration of this name with the overrides: ``hc2 (word_depth=64)``."""
        return _with(name, self.config)

    def memory_text(self, name: str) -> str:
        """Return what people read of a memory of this name with the overrides."""
        return _with(name, self.memory)


NO_OVERRIDES = Overrides()
"""No override."""


def toml_text(value: Any) -> str:
    """Return a value of TOML as it is written there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _value(name: str, text: str) -> Any:
    """Return the value of TOML that a text is."""
    try:
        # With a line end in it, a text could be more than a value.
        found = {} if text.splitlines() != [text] else tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        found = {}
    if not found:
        raise ValueError(f"{name}: {text!r} is no value of TOML")
    return found["value"]


def _with(name: str, values: Mapping[str, Any]) -> str:
    told = ", ".join(f"{key}={toml_text(value)}" for key, value in values.items())
    return f"{name} ({told})" if told else name
