"""All instances of a module as one object of C++, whose lanes they are: hardware in vector instructions."""

from sim.executors.compiled.lanes.netlist import Description, describe
from sim.executors.compiled.lanes.source import lanes_source

__all__ = ["Description", "describe", "lanes_source"]
