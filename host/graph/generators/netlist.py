"""A real directed graph that needs no download: the signal dependencies of the accelerator's own netlist."""

from typing import TYPE_CHECKING

from host.graph.csr import Graph

if TYPE_CHECKING:
    from hw.config import AcceleratorConfig

__all__ = ["netlist_graph"]


def netlist_graph(config: "AcceleratorConfig") -> Graph:
    """Return the signal-dependency graph of a machine's netlist; its strong components are feedback loops.

    Parameters
    ----------
    config : AcceleratorConfig
        The machine.

    Returns
    -------
    Graph
        An edge leads from each signal to every signal that it drives.
    """
    from sim.netlist import signal_graph

    vertices, sources, targets = signal_graph(config)
    return Graph.from_edges(vertices, sources, targets)
