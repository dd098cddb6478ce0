"""What Wijs, Katoen and Bošnački measured (2014, section 4), on an NVIDIA K20m and an Intel E5-2620."""

from typing import NamedTuple

__all__ = ["BEST", "CONFIGURATIONS", "TABLE1", "TABLE2", "Published", "PublishedMecs"]

CONFIGURATIONS: dict[str, dict[str, int]] = {
    "F0,1": {"segment": 1},
    "F0,7": {"segment": 7},
    "F3,1": {"cached": 3, "segment": 1},
    "F3,7": {"cached": 3, "segment": 7},
    "F0,1-nh": {"segment": 1, "no-hybrid": 1},
}
"""Configurations by the paper's names, as options of ``fbt``."""


BEST = "F0,7"
"""The configuration of table 2."""


class Published(NamedTuple):
    """A row of table 1."""

    model: str
    states: float
    """Millions."""
    transitions: float
    """Millions."""
    degree: float
    """Average out-degree."""
    components: str
    """As it is printed."""
    tarjan: float
    """Seconds."""
    fbt: tuple[float, ...]
    """Seconds, one for each of `CONFIGURATIONS`."""


TABLE1 = (
    Published("wlan.2500", 12.6, 28.1, 2.23, "12.5M", 6.17, (29.16, 20.71, 119.00, 61.90, 26.73)),
    Published("phil.7", 11.0, 98.5, 8.97, "1", 23.47, (0.70, 0.71, 1.14, 1.18, 0.73)),
    Published("diningcrypt.t.10.(0.5)", 42.9, 279.4, 6.51, "42.9M", 41.42, (1.63, 1.62, 1.74, 1.75, 2.08)),
    Published("test-and-set.7", 51.4, 468.5, 9.12, "4672", 103.92, (30.33, 36.04, 95.67, 92.40, 19.12)),
    Published("leader.7", 68.7, 280.5, 4.08, "42.2M", 68.08, (45.02, 5.35, 110.18, 12.27, 47.84)),
    Published("phil_1ss.5,10", 72.9, 425.6, 5.84, "1", 99.75, (3.28, 3.30, 6.46, 6.34, 3.25)),
    Published("coin.8.3", 87.9, 583.0, 6.63, "5.4M", 135.61, (125.94, 9.10, 582.59, 42.04, 179.00)),
    Published("mutual.7.13", 76.2, 653.7, 8.58, "1", 121.31, (4.08, 3.72, 4.97, 4.66, 4.71)),
    Published("zeroconf_dl.F.200.1k.6", 118.6, 273.5, 2.31, "118.6M", 97.91, (28.63, 6.12, 28.98, 6.23, 28.63)),
    Published("firewire_dl.800.36.(0.2)", 129.3, 293.6, 2.27, "129.3M", 104.07, (26.71, 6.71, 26.97, 6.87, 26.60)),
)
"""The rows, from the top."""


class PublishedMecs(NamedTuple):
    """A row of table 2."""

    model: str
    basic: float
    """Seconds of the basic algorithm with Tarjan's on the processor (BM)."""
    parallel: float
    """Seconds of the parallel one on the graphics processor (GM)."""


TABLE2 = (
    PublishedMecs("wlan.2500", 32.33, 21.46),
    PublishedMecs("phil.7", 51.22, 0.73),
    PublishedMecs("diningcrypt.t.10.(0.5)", 140.85, 1.80),
    PublishedMecs("test-and-set.7", 203.50, 36.70),
    PublishedMecs("leader.7", 239.80, 7.48),
    PublishedMecs("phil_1ss.5,10", 281.32, 3.45),
    PublishedMecs("coin.8.3", 363.07, 12.63),
    PublishedMecs("mutual.7.13", 302.66, 3.83),
    PublishedMecs("zeroconf_dl.F.200.1k.6", 390.05, 6.23),
    PublishedMecs("firewire_dl.800.36.(0.2)", 470.96, 6.90),
)
"""The rows, from the top: the models of table 1."""
