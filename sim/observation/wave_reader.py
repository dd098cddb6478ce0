"""Reading of waveform files: values of a signal in each cycle of the file's window."""

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pywellen

__all__ = ["WaveFileError", "WaveReader"]

_TAIL = 1 << 16
"""Bytes at the end of a VCD file that contain its last time; a value change is far shorter."""

_FST_HEADER = 0
"""Kind of the first block of an FST file: a byte, then its length, the first time and the last, 8 bytes each."""


class WaveFileError(ValueError):
    """A file without waveforms, or without the required signals. One line, without the file's name."""


class WaveReader:
    """A waveform file, VCD or FST, in which a unit of time stands for a cycle.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Attributes
    ----------
    first : int
        First cycle in the file.
    cycles : int
        Number of cycles in the file.

    Raises
    ------
    OSError
        The file cannot be read.
    WaveFileError
        It is neither VCD nor FST, is damaged, or is empty.
    """

    def __init__(self, path: Path) -> None:
        end = _end(path)
        try:
            # Single-threaded: starting threads would take as long as reading a window.
            waveform = pywellen.Waveform(str(path), multi_threaded=False)
        except RuntimeError as error:
            raise WaveFileError(f"no waveforms: {str(error).splitlines()[0].rstrip(': ')}") from None
        self._variables = {variable.full_name: variable for variable in waveform.all_vars()}
        times = next((times for name in self._variables if len(times := self._changes(name)[0])), None)
        if times is None:
            raise WaveFileError("no waveforms: no signal has a value")
        self.first = int(times[0])
        # A file truncated while it was written ends with changes instead of a time.
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
        """Return the value of a signal of at most 64 bits in each cycle, shape (cycles,).

        Raises
        ------
        WaveFileError
            There is no such signal, or a value of it is not a number.
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
        """Return the times at which a signal changes, and its new values."""
        variable = self._variable(name)
        try:
            changes = list(variable.signal)
        except BaseException as error:
            # A panic of its Rust code raises an exception that does not derive from `Exception`.
            if type(error).__name__ != "PanicException":
                raise
            raise WaveFileError(f"damaged where {name} changes") from None
        return np.array([time for time, _ in changes], np.int64), [value for _, value in changes]


def _end(path: Path) -> int:
    """Return the last time of a file, which the library's reader does not provide."""
    with path.open("rb") as file:
        head = file.read(25)
        if head[:1] == bytes([_FST_HEADER]) and len(head) == 25:
            return int.from_bytes(head[17:25], "big")
        file.seek(max(0, file.seek(0, 2) - _TAIL))
        times = re.findall(rb"^#(\d+)\s*$", file.read(), re.MULTILINE)
    return int(times[-1]) if times else 0
