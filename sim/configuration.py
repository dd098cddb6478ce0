"""Configurations of the hardware, and their selection by name or by a TOML file."""

from pathlib import Path

from cyscc.hw.config import PRESETS, AcceleratorConfig, ConfigError
from cyscc.sim.documents import DocumentError, read_toml

__all__ = ["PRESETS", "AcceleratorConfig", "ConfigError", "load_config"]


def load_config(name: str) -> AcceleratorConfig:
    """Return a preset, or the configuration of a TOML file.

    Parameters
    ----------
    name : str
        Name of a preset, or path of a file that ends in ``.toml``.

    Raises
    ------
    ConfigError
        Neither; the file cannot be read or is no TOML; unknown key or impossible value. Names the file.
    """
    if name in PRESETS:
        return PRESETS[name]
    if Path(name).suffix != ".toml":
        raise ConfigError(f"unknown configuration {name!r}: there are {', '.join(PRESETS)}, or a .toml file")
    try:
        return AcceleratorConfig.from_mapping(read_toml(name))
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror}") from None
    except (DocumentError, ConfigError) as error:
        raise ConfigError(f"{name}: {error}") from None
