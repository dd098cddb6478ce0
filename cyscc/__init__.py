"""The Python interface of cyscc: graphs, machines, runs, and what records of runs say.

Everything is imported when it is first used, so that ``import cyscc`` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from host.analysis.explain.verdict import Finding
    from host.api.inputs import configuration, generate, graph_from_edges, memory_profile, read_graph, write_graph
    from host.api.records import Difference, Explanation, compare, explain, figures, replay, report
    from host.api.runs import bfs, scc
    from host.errors import InputError
    from host.graph.csr import Graph
    from host.record.reader import Record
    from host.replay.replaying import Window
    from host.runs.results import BfsResult, Result, SccResult
    from sim.configuration import PRESETS, AcceleratorConfig
    from sim.errors import SimulationError
    from sim.memory import Profile

__all__ = [
    "PRESETS",
    "AcceleratorConfig",
    "BfsResult",
    "Difference",
    "Explanation",
    "Finding",
    "Graph",
    "InputError",
    "Profile",
    "Record",
    "Result",
    "SccResult",
    "SimulationError",
    "Window",
    "bfs",
    "compare",
    "configuration",
    "explain",
    "figures",
    "generate",
    "graph_from_edges",
    "memory_profile",
    "read_graph",
    "replay",
    "report",
    "scc",
    "write_graph",
]

_HOMES = {
    "host.api.inputs": ("configuration", "generate", "graph_from_edges", "memory_profile", "read_graph", "write_graph"),
    "host.api.records": ("Difference", "Explanation", "compare", "explain", "figures", "replay", "report"),
    "host.api.runs": ("bfs", "scc"),
    "host.errors": ("InputError",),
    "host.analysis.explain.verdict": ("Finding",),
    "host.graph.csr": ("Graph",),
    "host.record.reader": ("Record",),
    "host.replay.replaying": ("Window",),
    "host.runs.results": ("BfsResult", "Result", "SccResult"),
    "sim.configuration": ("PRESETS", "AcceleratorConfig"),
    "sim.errors": ("SimulationError",),
    "sim.memory": ("Profile",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'cyscc' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    """Return what there is, imported or not."""
    return sorted(__all__)
