"""The end of a run that is made again: behind the cycles that are wanted."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.machine import Machine

__all__ = ["Reached", "stop_behind"]


class Reached(BaseException):
    """A run has come as far as it was to; no error, and not to be caught by what handles errors."""


def stop_behind(machine: "Machine", last: int) -> None:
    """Have the run of a machine end as soon as a cycle is over, by `Reached`."""

    def meet(cycle: int) -> int:
        if cycle > last:
            raise Reached
        return last + 1 - cycle

    machine.on_meeting = meet
