"""What can go wrong in a simulation. Each is one clear line, and a diagnosis where there is more to say."""

__all__ = ["BuildError", "CycleLimitError", "HangError", "MemoryAccessError", "SimulationError"]


class SimulationError(Exception):
    """A simulation that failed.

    Parameters
    ----------
    message : str
        One line: what happened.
    diagnosis : str, optional
        Further lines: the state of what is stuck.
    """

    def __init__(self, message: str, diagnosis: str = "") -> None:
        super().__init__(message)
        self.diagnosis = diagnosis


class CycleLimitError(SimulationError):
    """The cycle limit was reached before the instruction was complete."""


class HangError(SimulationError):
    """For the watchdog's time nothing moved, and the memory owed nothing, although an instruction is running."""


class MemoryAccessError(SimulationError):
    """The hardware accessed memory outside every allocation, or misaligned."""


class BuildError(SimulationError):
    """The compiled executor could not be built: a tool is missing or refused its input."""
