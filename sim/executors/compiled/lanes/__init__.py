"""All instances of a module as lanes of one C++ object, which simulates them in vector instructions."""

from cyscc.sim.executors.compiled.lanes.netlist import Description, describe
from cyscc.sim.executors.compiled.lanes.source import lanes_source, single_source

__all__ = ["Description", "describe", "lanes_source", "single_source"]
