"""Files of Markov decision processes: PRISM's explicit transitions (.tra) and Storm's explicit files (.drn)."""

from pathlib import Path

from cyscc.host.baselines.mdp.formats.drn import read_drn
from cyscc.host.baselines.mdp.formats.rows import TOLERANCE
from cyscc.host.baselines.mdp.formats.tra import read_tra
from cyscc.host.baselines.mdp.formats.writer import write_drn, write_tra
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.graph.formats.files import Watch, gzipped, open_input, open_output, suffix_of
from cyscc.host.output.errors import InputError, locating_errors

__all__ = ["TOLERANCE", "check_name", "read_mdp", "write_mdp"]

_READERS = {".tra": read_tra, ".drn": read_drn}
_WRITERS = {".tra": write_tra, ".drn": write_drn}


def check_name(path: Path | str) -> str:
    """Return the suffix of a model's file, ``.tra`` or ``.drn``, without ``.gz``.

    Raises
    ------
    InputError
        The suffix is another.
    """
    path = Path(path)
    suffix = suffix_of(path)
    if suffix not in _READERS:
        raise InputError("is no file of a model by its name: they end in .tra or .drn, or these and .gz", path=path)
    return suffix


def read_mdp(path: Path | str, *, watch: Watch | None = None) -> Mdp:
    """Read a model in the format that the suffix names, gzipped or not.

    ``.tra`` is PRISM's explicit transition file, ``.drn`` Storm's explicit file. Only the support of the distributions
    is kept: transitions of probability 0 are dropped.

    Parameters
    ----------
    path : Path or str
        The file.
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
    path = Path(path)
    read = _READERS[check_name(path)]
    with open_input(path, watch, what="model") as file:
        if gzipped(path) and not file.gzipped:
            raise InputError("not gzip data")
        return read(file.stream)


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
    write = _WRITERS[check_name(path)]
    with locating_errors(path=path), open_output(path, watch) as stream:
        write(mdp, stream)
