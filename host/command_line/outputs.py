"""The output files of a command, looked at before anything takes long."""

from collections.abc import Mapping
from os.path import exists, isfile, realpath

from host.options import UsageError
from host.output import STANDARD_OUTPUT, check_output

__all__ = ["check_outputs"]


def check_outputs(outputs: Mapping[str, str | None], *, others: Mapping[str, str]) -> None:
    """Refuse output files that could not be written, or that have another use too.

    Parameters
    ----------
    outputs : mapping of str to (str or None)
        The files by option; None where one was not given.
    others : mapping of str to str
        Files that the command reads, or writes without being told where, by what messages call them.

    Raises
    ------
    UsageError, InputError
        Two are the same file; one cannot be written.
    """
    users = {realpath(path): name for name, path in others.items()}
    for option, path in outputs.items():
        if path is None:
            continue
        check_output(path, option)
        key = path if path == STANDARD_OUTPUT else realpath(path)
        if key in users and (key == STANDARD_OUTPUT or isfile(key) or not exists(key)):
            raise UsageError(f"{option} and {users[key]} are the same file: {path}")
        users[key] = option
