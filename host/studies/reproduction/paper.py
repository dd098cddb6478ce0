"""What the paper measured (Attia et al. 2015, section 6, table I): the figures that the simulation is held against."""

__all__ = [
    "BETKAOUI_GTEPS",
    "CYGRAPH_GTEPS",
    "ENGINES",
    "KINDS",
    "TABLE1_DEGREES",
    "TABLE1_VERTICES",
    "betkaoui_gteps",
    "cygraph_gteps",
]

KINDS = ("random", "rmat")
"""Kinds of graphs, in the order of table I's columns."""

ENGINES = (1, 4)
"""Numbers of Application Engines (FPGAs), in the order of table I's columns."""

TABLE1_DEGREES = (8, 16, 32, 64)
"""Average degrees, the rows of table I and the panels of figures 10 and 11."""

TABLE1_VERTICES = (1 << 20, 1 << 21, 1 << 22, 1 << 23)
"""Numbers of vertices that table I averages over."""

CYGRAPH_GTEPS = {
    ("random", 1): (0.504, 0.567, 0.584, 0.589),
    ("random", 4): (1.949, 2.220, 2.308, 2.339),
    ("rmat", 1): (0.504, 0.546, 0.570, 0.584),
    ("rmat", 4): (1.761, 1.925, 2.032, 2.108),
}
"""Table I: GTEPS (10**9 traversed edges a second) of the accelerator by kind and engines, one for each degree."""

BETKAOUI_GTEPS = {
    "random": (0.745, 1.520, 2.325, 2.900),
    "rmat": (0.450, 0.975, 1.750, 2.138),
}
"""Table I: GTEPS of Betkaoui et al. 2012 on four FPGAs by kind, one for each degree."""


def cygraph_gteps(kind: str, degree: int, engines: int) -> float | None:
    """Return table I's GTEPS of the accelerator, None for a degree that the table has not."""
    return CYGRAPH_GTEPS[kind, engines][TABLE1_DEGREES.index(degree)] if degree in TABLE1_DEGREES else None


def betkaoui_gteps(kind: str, degree: int) -> float | None:
    """Return table I's GTEPS of Betkaoui et al. 2012, None for a degree that the table has not."""
    return BETKAOUI_GTEPS[kind][TABLE1_DEGREES.index(degree)] if degree in TABLE1_DEGREES else None
