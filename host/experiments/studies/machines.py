"""Machines of Attia et al. 2015, section 6, by the names that `cyscc reproduce` takes."""

SEARCH_MACHINES = {"published": "published-bfs", "published-scc": "published", "hc2": "hc2"}
"""Presets with four AEs for table I and figures 10 and 11, by machine name.

The paper measured these on its BFS build, which has separate rows in table II and separate source code. So `published`
is that build here; `published-scc` is the one that finds components.
"""

COMPONENT_MACHINES = {"published": "published", "hc2": "hc2"}
"""Presets with four AEs for figures 12 and 13, by machine name. The paper used its SCC build."""


def preset_of(machine: str, engines: int) -> str:
    """Return the preset of a machine in `SEARCH_MACHINES` with one or four AEs."""
    preset = SEARCH_MACHINES[machine]
    return preset if engines == 4 else f"{preset}-1ae"
