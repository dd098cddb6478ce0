"""The Python interface of cyscc: graphs, machines, runs, and what records of runs say.

Everything is imported when it is first used, so that ``import cyscc`` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyscc.host.analysis.events import Events
    from cyscc.host.analysis.explain.verdict import Finding
    from cyscc.host.api.areas import area
    from cyscc.host.api.depths import FifoDepths, smallest_depths
    from cyscc.host.api.events import events, trace
    from cyscc.host.api.inputs import configuration, generate, graph_from_edges, memory_profile, read_graph, write_graph
    from cyscc.host.api.lives import life
    from cyscc.host.api.records import (
        Difference,
        Explanation,
        Groups,
        compare,
        compare_groups,
        explain,
        figures,
        replay,
        report,
        write_figure,
    )
    from cyscc.host.api.regions import detail
    from cyscc.host.api.runs import bfs, scc
    from cyscc.host.api.sweeps import Sweep, sweep
    from cyscc.host.api.trials import WhatIf, what_if
    from cyscc.host.experiments.fpga.area import Area
    from cyscc.host.graph.csr import Graph
    from cyscc.host.output.errors import InputError
    from cyscc.host.record.reader import Record
    from cyscc.host.replay.life import VertexLife
    from cyscc.host.replay.replaying import Window
    from cyscc.host.runs.results import BfsResult, Result, SccResult
    from cyscc.sim.configuration import PRESETS, AcceleratorConfig
    from cyscc.sim.errors import SimulationError
    from cyscc.sim.memory import Profile

__all__ = [
    "PRESETS",
    "AcceleratorConfig",
    "Area",
    "BfsResult",
    "Difference",
    "Events",
    "Explanation",
    "FifoDepths",
    "Finding",
    "Graph",
    "Groups",
    "InputError",
    "Profile",
    "Record",
    "Result",
    "SccResult",
    "SimulationError",
    "Sweep",
    "VertexLife",
    "WhatIf",
    "Window",
    "area",
    "bfs",
    "compare",
    "compare_groups",
    "configuration",
    "detail",
    "events",
    "explain",
    "figures",
    "generate",
    "graph_from_edges",
    "life",
    "memory_profile",
    "read_graph",
    "replay",
    "report",
    "scc",
    "smallest_depths",
    "sweep",
    "trace",
    "what_if",
    "write_figure",
    "write_graph",
]

_HOMES = {
    "cyscc.host.api.areas": ("area",),
    "cyscc.host.api.depths": ("FifoDepths", "smallest_depths"),
    "cyscc.host.api.events": ("events", "trace"),
    "cyscc.host.api.inputs": (
        "configuration",
        "generate",
        "graph_from_edges",
        "memory_profile",
        "read_graph",
        "write_graph",
    ),
    "cyscc.host.api.lives": ("life",),
    "cyscc.host.api.records": (
        "Difference",
        "Explanation",
        "Groups",
        "compare",
        "compare_groups",
        "explain",
        "figures",
        "replay",
        "report",
        "write_figure",
    ),
    "cyscc.host.api.regions": ("detail",),
    "cyscc.host.api.runs": ("bfs", "scc"),
    "cyscc.host.api.sweeps": ("Sweep", "sweep"),
    "cyscc.host.api.trials": ("WhatIf", "what_if"),
    "cyscc.host.output.errors": ("InputError",),
    "cyscc.host.analysis.events": ("Events",),
    "cyscc.host.analysis.explain.verdict": ("Finding",),
    "cyscc.host.experiments.fpga.area": ("Area",),
    "cyscc.host.graph.csr": ("Graph",),
    "cyscc.host.record.reader": ("Record",),
    "cyscc.host.replay.life": ("VertexLife",),
    "cyscc.host.replay.replaying": ("Window",),
    "cyscc.host.runs.results": ("BfsResult", "Result", "SccResult"),
    "cyscc.sim.configuration": ("PRESETS", "AcceleratorConfig"),
    "cyscc.sim.errors": ("SimulationError",),
    "cyscc.sim.memory": ("Profile",),
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
