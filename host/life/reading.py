"""Lives of a waveform file, what is wrong with it told as bad input."""

from collections.abc import Callable, Sequence
from pathlib import Path

from host.errors import InputError
from host.life.selection import select
from host.output import reason
from sim.observation.life import Life, Lives, read_lives
from sim.observation.wave_reader import WaveFileError, WaveReader

__all__ = ["chosen_lives"]


def chosen_lives(
    path: Path,
    *,
    of: Sequence[str] = (),
    first: int | None = None,
    option: str,
    name: Callable[[Lives], None] | None = None,
) -> tuple[Lives, list[Life]]:
    """Return all lives that begin in the window that a file shows, and those of them that are asked for.

    Parameters
    ----------
    path : pathlib.Path
        A VCD or FST file with all signals of the kernels that lives are wanted of.
    of, first
        As of `host.life.selection.select`.
    option : str
        The option that `of` comes from, for messages.
    name : callable, optional
        Names the vertices, which `of` then means by these names.

    Raises
    ------
    InputError
        It cannot be read, shows no waveforms, or lacks a signal; nothing of what is asked for is there.
    """
    try:
        window = read_lives(WaveReader(path))
    except WaveFileError as error:
        raise InputError(str(error), path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {reason(error)}", path=path) from None
    if name is not None:
        name(window)
    try:
        return window, select(window, of=of, first=first)
    except InputError as error:
        raise InputError(f"{error.cause} ({option})", path=path) from None
