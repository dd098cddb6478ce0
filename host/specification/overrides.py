"""Overrides of single values of a configuration or a memory: ``neighbour_depth=64``, ``memory.bank_busy=20``."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from cyscc.hw.values import plain
from cyscc.sim.configuration import AcceleratorConfig

if TYPE_CHECKING:
    from cyscc.sim.memory import Profile

MEMORY = "memory."
"""Prefix of the names of a memory's parameters."""


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Values that replace single values of a configuration and a memory profile.

    Parameters
    ----------
    config, memory : dict
        Values by field of the configuration, and by parameter of the memory profile.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Overrides":
        """Return overrides from values by name; names of memory parameters begin with `MEMORY`."""
        if not isinstance(values, Mapping):
            raise ValueError(f"overrides must be values by name, not {values!r}")
        given = {str(name): plain(value) for name, value in values.items()}
        memory = {name.removeprefix(MEMORY): value for name, value in given.items() if name.startswith(MEMORY)}
        return cls(config={name: value for name, value in given.items() if not name.startswith(MEMORY)}, memory=memory)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Overrides":
        """Parse overrides ``KEY=VALUE``, each with a TOML value.

        Raises
        ------
        ValueError
            A text is malformed, or a key is given twice. One line, which quotes it.
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

    @classmethod
    def given(cls, values: "Overrides | Mapping[str, Any] | Iterable[str] | None") -> "Overrides":
        """Return overrides as users give them: values by name, or texts ``KEY=VALUE``.

        Raises
        ------
        ValueError
            They are neither, or a text is malformed.
        """
        if isinstance(values, Overrides):
            return values
        if isinstance(values, list | tuple) and all(isinstance(text, str) for text in values):
            return cls.parse(values)
        return NO_OVERRIDES if values is None else cls.of(values)  # type: ignore[arg-type]  # refused by `of`

    def values(self) -> dict[str, Any]:
        """Return all values by name, as `of` takes them."""
        return {**self.config, **{MEMORY + name: value for name, value in self.memory.items()}}

    def applied_to(self, config: AcceleratorConfig) -> AcceleratorConfig:
        """Return a configuration with the overrides.

        Raises
        ------
        ValueError
            A field is unknown, or the machine is invalid. One line, which quotes the error.
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
            A parameter is unknown, or the memory is invalid. One line, which quotes the error.
        """
        from cyscc.sim.memory import changed_profile

        return changed_profile(profile, self.memory)

    def config_text(self, name: str) -> str:
        """Return the display text of a configuration with the overrides: ``hc2 (word_depth=64)``."""
        return _with(name, self.config)

    def memory_text(self, name: str) -> str:
        """Return the display text of a memory with the overrides."""
        return _with(name, self.memory)


NO_OVERRIDES = Overrides()
"""Empty overrides."""


def toml_text(value: Any) -> str:
    """Format a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _value(name: str, text: str) -> Any:
    """Parse a TOML value."""
    try:
        # A text with a line break could contain further keys.
        found = {} if text.splitlines() != [text] else tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        found = {}
    if not found:
        raise ValueError(f"{name}: {text!r} is no value of TOML")
    return found["value"]


def _with(name: str, values: Mapping[str, Any]) -> str:
    told = ", ".join(f"{key}={toml_text(value)}" for key, value in values.items())
    return f"{name} ({told})" if told else name
