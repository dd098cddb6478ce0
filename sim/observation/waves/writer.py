"""What writes a waveform file, in whichever format."""

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sim.observation.waves.variables import Variable

__all__ = ["NativeSink", "WaveWriter"]


@dataclass(frozen=True, kw_only=True)
class NativeSink:
    """How native code writes values to a file that is begun, while Python does not.

    Parameters
    ----------
    descriptor : int
        Of a VCD file; -1 of another.
    writer, time, bits, text, flush : int
        Addresses of an FST writer and of its functions; 0 of another.
    """

    descriptor: int = -1
    writer: int = 0
    time: int = 0
    bits: int = 0
    text: int = 0
    flush: int = 0


class WaveWriter(abc.ABC):
    """Writes a waveform file. Times are cycles."""

    @abc.abstractmethod
    def declare(self, variables: Sequence[Variable]) -> None:
        """Write the head."""

    @abc.abstractmethod
    def key(self, variable: Variable) -> tuple[int, bytes]:
        """Return what the file calls a variable, as a number and as text."""

    @abc.abstractmethod
    def show(self, cycle: int, changes: Iterable[tuple[Variable, bytes]]) -> None:
        """Write the changes of a cycle: values as in a VCD file, without the variable. At first, the values of all."""

    @property
    @abc.abstractmethod
    def native(self) -> NativeSink:
        """How native code writes what `show` would."""

    @abc.abstractmethod
    def finish(self, cycle: int) -> None:
        """Complete the file, which ends with a cycle.

        Raises
        ------
        OSError
            Something could not be written.
        """

    @abc.abstractmethod
    def discard(self) -> None:
        """Release everything; the file is worth nothing."""
