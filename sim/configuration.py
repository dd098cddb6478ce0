"""Configurations, for those who reach the hardware only through the simulator."""

from hw.config import PRESETS, AcceleratorConfig, ConfigError, load_config

__all__ = ["PRESETS", "AcceleratorConfig", "ConfigError", "load_config"]
