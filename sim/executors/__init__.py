"""Executors: what executes the hardware, cycle by cycle, against the one memory model."""

from sim.executors.base import Command, CommandKind, Executor, RunState

__all__ = ["Command", "CommandKind", "Executor", "RunState"]
