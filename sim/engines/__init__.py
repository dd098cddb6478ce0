"""Engines: what executes the hardware, cycle by cycle, against the one memory model."""

from sim.engines.base import Command, CommandKind, Engine, RunState

__all__ = ["Command", "CommandKind", "Engine", "RunState"]
