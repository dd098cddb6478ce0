"""The machines of the paper's table and figures: which presets each name stands for."""

__all__ = ["COMPONENT_MACHINES", "SEARCH_MACHINES", "preset_of"]

SEARCH_MACHINES = {"published": "published-bfs", "published-scc": "published", "hc2": "hc2"}
"""Table I, figures 10 and 11: by name, the preset with four AEs.

The paper measured them on its BFS build, which has rows of its own in table II and sources of its own, so `published`
is that build here; `published-scc` is the one that finds components.
"""

COMPONENT_MACHINES = {"published": "published", "hc2": "hc2"}
"""Figures 12 and 13: by name, the preset with four AEs. The paper's was its SCC build."""


def preset_of(machine: str, engines: int) -> str:
    """Return the preset of a machine of `SEARCH_MACHINES` with one or four AEs."""
    preset = SEARCH_MACHINES[machine]
    return preset if engines == 4 else f"{preset}-1ae"
