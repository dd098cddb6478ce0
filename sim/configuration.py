"""Configurations of the hardware, re-exported for the host."""

from cyscc.hw.config import PRESETS, AcceleratorConfig, ConfigError, load_config

__all__ = ["PRESETS", "AcceleratorConfig", "ConfigError", "load_config"]
