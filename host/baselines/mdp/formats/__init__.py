"""Files of Markov decision processes: PRISM's explicit transitions (.tra) and Storm's explicit files (.drn)."""

from collections.abc import Callable
from pathlib import Path
from typing import IO

from cyscc.host.baselines.mdp.formats.drn import read_drn, recognises_drn, write_drn
from cyscc.host.baselines.mdp.formats.tra import read_tra, write_tra
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.graph.formats.files import InputFile, Watch, gzipped, open_input, open_output, suffix_of
from cyscc.host.output.errors import InputError

STANDARD_INPUT = "-"
"""File name that stands for standard input."""

_FORMATS = {".tra": (read_tra, write_tra), ".drn": (read_drn, write_drn)}
"""Reader and writer by suffix."""


def check_name(path: Path | str) -> str:
    """Return the suffix of a model's file, ``.tra`` or ``.drn``, without ``.gz``.

    Raises
    ------
    InputError
        The suffix is another.
    """
    path = Path(path)
    suffix = suffix_of(path)
    if suffix not in _FORMATS:
        raise InputError("is no file of a model by its name: they end in .tra or .drn, or these and .gz", path=path)
    return suffix


def _reader(path: Path | None, file: InputFile) -> Callable[[IO[bytes]], Mdp]:
    """Return the reader of a file: by its name, and by the content of standard input."""
    if path is None:
        return read_drn if recognises_drn(file.head) else read_tra
    if gzipped(path) and not file.gzipped:
        raise InputError("not gzip data")
    return _FORMATS[check_name(path)][0]


def read_mdp(path: Path | str, *, watch: Watch | None = None) -> Mdp:
    """Read a model in the format that the suffix names, gzipped or not.

    ``.tra`` is PRISM's explicit transition file, ``.drn`` Storm's explicit file. Only the support of the distributions
    is kept: transitions of probability 0 are dropped.

    Parameters
    ----------
    path : Path or str
        The file; ``-`` is standard input, whose content determines the format.
    watch : callable, optional
        Progress callback.

    Returns
    -------
    Mdp

    Raises
    ------
    InputError
        When the file cannot be read as such a model, a choice's probabilities do not sum to 1 within `TOLERANCE`, or
        the model does not fit in 32 bits or in memory.
    """
    source = None if str(path) == STANDARD_INPUT else Path(path)
    if source is not None:
        check_name(source)
    with open_input(source, watch, what="model") as file:
        return _reader(source, file)(file.stream)


def write_mdp(mdp: Mdp, path: Path | str, *, watch: Watch | None = None) -> None:
    """Write a model in the format that the suffix names, as in `read_mdp`; it appears whole or not at all.

    The transitions of each choice become equally likely, because the model only has their support.

    Parameters
    ----------
    mdp : Mdp
        The model.
    path : Path or str
        The file.
    watch : callable, optional
        Progress callback.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    path = Path(path)
    write = _FORMATS[check_name(path)][1]
    with open_output(path, watch) as stream:
        write(mdp, stream)
