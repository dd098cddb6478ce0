"""The machine's own netlist as a graph, for those who reach the hardware only through the simulator."""

from hw.netlist import signal_graph

__all__ = ["signal_graph"]
