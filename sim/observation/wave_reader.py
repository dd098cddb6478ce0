"""Waveform files read back: the value of a signal in each cycle of the window that a file shows."""

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pywellen

__all__ = ["WaveFileError", "WaveReader"]

_TAIL = 1 << 16
"""Bytes at the end of a VCD file among which its last time stands; a variable's change is far shorter."""

_FST_HEADER = 0
"""Kind of the first block of an FST file: a byte, then its length, the first time and the last, 8 bytes each."""


class WaveFileError(ValueError):
    """A file that shows no waveforms, or not the signals that are looked for. One line without the file's name."""


class WaveReader:
    """A waveform file, VCD or FST, in which a unit of time stands for a cycle.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Attributes
    ----------
    first : int
        First cycle that the file shows.
    cycles : int
        Cycles that it shows.

    Raises
    ------
    OSError
        The file cannot be read.
    WaveFileError
        It is neither VCD nor FST, is damaged, or shows nothing.
    """

    def __init__(self, path: Path) -> None:
        end = _end(path)
        try:
            # Its threads would take as long to start as a window takes to read.
            waveform = pywellen.Waveform(str(path), multi_threaded=False)
        except RuntimeError as error:
            raise WaveFileError(f"no waveforms: {str(error).splitlines()[0].rstrip(': ')}") from None
        self._variables = {variable.full_name: variable for variable in waveform.all_vars()}
        times = next((times for name in self._variables if len(times := self._changes(name)[0])), None)
        if times is None:
            raise WaveFileError("no waveforms: no signal has a value")
        self.first = int(times[0])
        # A file that was cut while it was being written ends with changes instead of a time.
        self.cycles = max(end, int(times[-1]) + 1) - self.first

    def __contains__(self, name: str) -> bool:
        return name in self._variables

    @property
    def names(self) -> list[str]:
        """Dotted paths of all signals."""
        return list(self._variables)

    def width(self, name: str) -> int:
        """Return the bits of a signal.

        Raises
        ------
        WaveFileError
            There is no such signal.
        """
        return int(self._variable(name).bitwidth)

    def values(self, name: str) -> npt.NDArray[np.uint64]:
        """Return what a signal of 64 bits at most was in each cycle, shape (cycles,).

        Raises
        ------
        WaveFileError
            There is no such signal, or it has no number in the first cycle or later.
        """
        times, values = self._changes(name)
        try:
            numbers = np.array(values, np.uint64)
        except (ValueError, TypeError, OverflowError):
            raise WaveFileError(f"{name} has values that are no numbers of 64 bits") from None
        if len(times) == 0 or times[0] > self.first:
            raise WaveFileError(f"{name} has no value in the first cycle")
        lengths = np.diff(np.append(np.clip(times - self.first, 0, self.cycles), self.cycles))
        return np.repeat(numbers, lengths)

    def _variable(self, name: str) -> pywellen.Var:
        try:
            return self._variables[name]
        except KeyError:
            raise WaveFileError(f"no signal {name}") from None

    def _changes(self, name: str) -> tuple[npt.NDArray[np.int64], list[int]]:
        """Return the times at which a signal changes, and what it becomes."""
        variable = self._variable(name)
        try:
            changes = list(variable.signal)
        except BaseException as error:
            # What its Rust code does not expect in a file ends in an exception that is no `Exception`.
            if type(error).__name__ != "PanicException":
                raise
            raise WaveFileError(f"damaged where {name} changes") from None
        return np.array([time for time, _ in changes], np.int64), [value for _, value in changes]


def _end(path: Path) -> int:
    """Return the last time of a file, which the reader of its signals does not tell."""
    with path.open("rb") as file:
        head = file.read(25)
        if head[:1] == bytes([_FST_HEADER]) and len(head) == 25:
            return int.from_bytes(head[17:25], "big")
        file.seek(max(0, file.seek(0, 2) - _TAIL))
        times = re.findall(rb"^#(\d+)\s*$", file.read(), re.MULTILINE)
    return int(times[-1]) if times else 0
