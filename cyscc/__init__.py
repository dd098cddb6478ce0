"""The Python interface of cyscc: graphs, machines, runs, and what records of runs say.

Everything is imported when it is first used, so that ``import cyscc`` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer
    from cyscc.host.experiments.sweep.answer import Sweep
    from cyscc.host.graph.csr import Graph
    from cyscc.host.interface.bench import bench
    from cyscc.host.interface.events import events
    from cyscc.host.interface.explain import explain
    from cyscc.host.interface.fpga import Area, area, synth, timing, verilog
    from cyscc.host.interface.generate import Generated, generate, model
    from cyscc.host.interface.graphs import configuration, graph_from_edges, memory_profile, read_graph, write_graph
    from cyscc.host.interface.replay import Replayed, replay
    from cyscc.host.interface.report import figures, report, write_figure
    from cyscc.host.interface.reproduce import reproduce
    from cyscc.host.interface.runs import bfs, scc
    from cyscc.host.interface.software import compare, mec, software
    from cyscc.host.interface.sweep import sweep
    from cyscc.host.interface.trials import smallest_depths, what_if
    from cyscc.host.output.errors import InputError
    from cyscc.host.record.reader import Record
    from cyscc.host.runs.results import BfsResult, Result, SccResult
    from cyscc.host.specification.place import Place
    from cyscc.sim.configuration import PRESETS, AcceleratorConfig
    from cyscc.sim.errors import SimulationError
    from cyscc.sim.memory import Profile

__all__ = [
    "PRESETS",
    "AcceleratorConfig",
    "Answer",
    "Area",
    "BfsResult",
    "Generated",
    "Graph",
    "InputError",
    "Place",
    "Profile",
    "Record",
    "Replayed",
    "Result",
    "SccResult",
    "SimulationError",
    "Sweep",
    "area",
    "bench",
    "bfs",
    "compare",
    "configuration",
    "events",
    "explain",
    "figures",
    "generate",
    "graph_from_edges",
    "mec",
    "memory_profile",
    "model",
    "read_graph",
    "replay",
    "report",
    "reproduce",
    "scc",
    "smallest_depths",
    "software",
    "sweep",
    "synth",
    "timing",
    "verilog",
    "what_if",
    "write_figure",
    "write_graph",
]

_HOMES = {
    "cyscc.host.answer.answer": ("Answer",),
    "cyscc.host.graph.csr": ("Graph",),
    "cyscc.host.interface.fpga": ("Area", "area"),
    "cyscc.host.experiments.sweep.answer": ("Sweep",),
    "cyscc.host.interface.report": ("figures", "write_figure"),
    "cyscc.host.interface.generate": ("Generated",),
    "cyscc.host.interface.graphs": ("configuration", "graph_from_edges", "memory_profile", "read_graph", "write_graph"),
    "cyscc.host.interface.replay": ("Replayed",),
    "cyscc.host.interface.trials": ("smallest_depths", "what_if"),
    "cyscc.host.output.errors": ("InputError",),
    "cyscc.host.record.reader": ("Record",),
    "cyscc.host.runs.results": ("BfsResult", "Result", "SccResult"),
    "cyscc.host.specification.place": ("Place",),
    "cyscc.sim.configuration": ("PRESETS", "AcceleratorConfig"),
    "cyscc.sim.errors": ("SimulationError",),
    "cyscc.sim.memory": ("Profile",),
}
"""Modules of what is no command; a function that is one has the module of the command."""

_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    home = _HOME.get(name)
    if home is None:
        from cyscc.host.command_line.commands import COMMANDS, TABLE

        if name not in COMMANDS:
            instead = f" any more: {gone}" if (gone := TABLE["gone_names"].get(name)) else ""
            raise AttributeError(f"module 'cyscc' has no attribute {name!r}{instead}")
        home = f"cyscc.host.{COMMANDS[name]}"
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    """Return what there is, imported or not."""
    return sorted(__all__)
