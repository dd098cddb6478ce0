"""All instances of a module as one object of C++, whose lanes they are: hardware in vector instructions."""

from sim.executors.compiled.lanes.netlist import describe
from sim.executors.compiled.lanes.source import lanes_source

__all__ = ["describe", "lanes_source"]
