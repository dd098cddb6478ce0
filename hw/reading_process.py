"""Base of processes that read memory: credits, queue of answers, starvation."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from cyscc.hw.credits import Credits
from cyscc.hw.queue import Queue

__all__ = ["ReadingProcess"]


class ReadingProcess(wiring.Component):
    """A process that reads on credit: each answer has a reserved place before its read is requested.

    Parameters
    ----------
    members : mapping of str to member
        The process's own members.
    depth : int
        Places for answers in flight or waiting.
    instrument : bool
        With the outputs that only simulation needs.

    Members
    -------
    idle : Out(1)
        All of the share was requested, answered and passed on.
    moving : Out(1)
        State changes in this cycle without a command being granted.
    credits : Out
        Free places, for the kernel's status.
    starved : Out(1)
        There is something to request, and no credit for it (instrumented processes only).
    fill : Out
        Answers that wait for the next process (instrumented processes only).
    """

    def __init__(self, members: Mapping[str, Any], *, depth: int, instrument: bool) -> None:
        self._depth = depth
        self._instrument = instrument
        shown = {"starved": Out(1), "fill": Out(range(depth + Queue.REGISTERS + 1))} if instrument else {}
        super().__init__({**members, "idle": Out(1), "moving": Out(1), "credits": Out(range(depth + 1)), **shown})

    def _show(self, m: Module, credits: Credits, answers: Queue, *, wanted: Value) -> None:
        """Drive the simulation-only outputs.

        Parameters
        ----------
        m : Module
            The process.
        credits : Credits
            Its credits.
        answers : Queue
            Where answers wait.
        wanted : Value
            There is something to request.
        """
        if self._instrument:
            m.d.comb += [self.starved.eq(wanted & ~credits.available), self.fill.eq(answers.level)]
