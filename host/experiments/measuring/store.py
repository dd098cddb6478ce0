"""A store of results on disk: written atomically, found by the digest of their inputs, and sealed.

Each result is a JSON file that can be read without this program. One that is damaged is refused: measured again, a time
would be another. Libraries for caches (diskcache, joblib) by default store pickles, whose reading can run code;
joblib's key covers one function's source, not all that it calls.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cyscc.host.output.documents import read_sealed, write_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import reason, removing_empty
from cyscc.sim.files import alone, private_folder

_DIGITS = 24


def measurement_digest(inputs: dict[str, Any]) -> str:
    """Return the digest of a measurement's inputs, 24 hexadecimal digits."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:_DIGITS]


def read_stored(path: Path, inputs: dict[str, Any], *, otherwise: str) -> dict[str, Any]:
    """Return a sealed document that has the inputs of what it tells.

    Parameters
    ----------
    path : Path
        Its file.
    inputs : dict
        The inputs that it must have.
    otherwise : str
        Cause of the refusal of a document with others.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    InputError
        It is damaged, or has other inputs.
    """
    document = read_sealed(path)
    # Compare as JSON, which has no tuples.
    if document.get("inputs") != json.loads(json.dumps(inputs)):
        raise InputError(otherwise, path=path)
    return document


class Store:
    """A folder of results: JSON documents, and files or folders that are made in place.

    Several processes may use it at the same time.

    Parameters
    ----------
    folder : Path
        The folder; created with its parents.
    named : Path, optional
        The path shown in error messages.

    Attributes
    ----------
    folder : Path

    Raises
    ------
    InputError
        The folder cannot be created, written or locked, or is a link, which could lead anywhere.
    """

    def __init__(self, folder: Path, *, named: Path | None = None) -> None:
        self.folder = folder
        if folder.is_symlink():
            raise InputError("is a link, which is not followed here (--output)", path=folder)
        with removing_empty(folder):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"cannot be made: {reason(error)} (--output)", path=named or folder) from None
            try:
                # What is made in it needs locks.
                with private_folder(folder):
                    pass
            except OSError as error:
                raise InputError(f"{reason(error)} (--output)", path=named or folder) from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError("cannot be written: read only (--output)", path=folder)

    def find(
        self, inputs: dict[str, Any], *, verified: bool, check: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any] | None:
        """Return the stored result of a measurement; None if there is none.

        Parameters
        ----------
        inputs : dict
            All inputs of the measurement.
        verified : bool
            Whether to accept only verified results.
        check : callable
            Raises a `ValueError` if a result is none of this measurement.

        Raises
        ------
        InputError
            The file is damaged, or is not that of this measurement.
        """
        path = self._path(inputs)
        try:
            stored = read_stored(path, inputs, otherwise="is another measurement")
            result: dict[str, Any] = stored.get("result", {})
            check(result)
        except FileNotFoundError:
            return None
        except InputError as error:
            raise InputError(f"{error.cause}: remove it to measure again", path=path) from None
        except ValueError as error:
            raise InputError(f"holds no such result: {error}: remove it to measure again", path=path) from None
        return None if verified and not result.get("verified") else result

    def add(self, inputs: dict[str, Any], result: dict[str, Any]) -> None:
        """Store the result of a measurement.

        Raises
        ------
        InputError
            The file could not be written.
        """
        write_sealed(self._path(inputs), {"inputs": inputs, "result": result})

    def remove(self, inputs: dict[str, Any]) -> None:
        """Remove the result of a measurement, if there is one."""
        self._path(inputs).unlink(missing_ok=True)

    def _path(self, inputs: dict[str, Any]) -> Path:
        return self.folder / f"{measurement_digest(inputs)}.json"

    def has(self, name: str) -> bool:
        """Whether a file or folder of the store exists; a link that leads nowhere does."""
        return os.path.lexists(self.folder / name)

    def make(self, name: str, make: Callable[[Path], None]) -> Path:
        """Return a file or folder of the store, and make it if it is missing.

        If another process is making it, wait for that process.

        Parameters
        ----------
        name : str
            Its name, which contains the digest of its inputs.
        make : callable
            Makes it at the given path, which does not exist yet and has the same suffix.
        """
        path = self.folder / name
        if not self.has(name):
            with alone(self._work(name)) as work:
                if not self.has(name):
                    make(work / name)
                    (work / name).rename(path)
        return path

    def clear(self, name: str) -> None:
        """Remove the leftovers of an interrupted `make`, unless a process is at work on it."""
        with suppress(OSError), private_folder(self._work(name)) as mine:
            if mine:
                shutil.rmtree(self._work(name))

    def _work(self, name: str) -> Path:
        return self.folder / f".{name}"
