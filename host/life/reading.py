"""Lives of a waveform file, what is wrong with it told as bad input."""

from pathlib import Path

from host.errors import InputError
from host.output import reason
from sim.observation.life import Lives, read_lives
from sim.observation.wave_reader import WaveFileError, WaveReader

__all__ = ["lives_of"]


def lives_of(path: Path) -> Lives:
    """Return all lives that begin in the window that a file shows.

    Parameters
    ----------
    path : pathlib.Path
        A VCD or FST file with all signals of the BFS kernels that lives are wanted of.

    Raises
    ------
    InputError
        It cannot be read, shows no waveforms, or lacks a signal.
    """
    try:
        return read_lives(WaveReader(path))
    except WaveFileError as error:
        raise InputError(str(error), path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
