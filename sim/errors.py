"""Errors of simulations: one clear line each, optionally with a diagnosis."""


class SimulationError(Exception):
    """A simulation that failed.

    Parameters
    ----------
    message : str
        The error in one line.
    diagnosis : str, optional
        Further lines on the state of kernels that are stuck.
    """

    def __init__(self, message: str, diagnosis: str = "") -> None:
        super().__init__(message)
        self.diagnosis = diagnosis


class OutputError(Exception):
    """A file that a simulation writes cannot be written, in one line; the simulation itself has not failed."""


class CycleLimitError(SimulationError):
    """The cycle limit was reached before the instruction was complete."""


class HangError(SimulationError):
    """The watchdog expired: an instruction is running, but nothing moved, and no memory request was outstanding."""


class MemoryAccessError(SimulationError):
    """The hardware accessed memory outside every allocation, or misaligned."""


class BuildError(SimulationError):
    """The compiled executor could not be built: a tool is missing or refused its input."""
