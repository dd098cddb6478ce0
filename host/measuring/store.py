"""Results on disk: there whole or not at all, found again by a digest of all that went in."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from host.errors import InputError
from host.output import reason, write_json
from sim.files import alone, private_folder

__all__ = ["Store", "measurement_digest"]

_DIGITS = 24


def measurement_digest(inputs: dict[str, Any]) -> str:
    """Return the digest, 24 hexadecimal digits, of everything that a measurement depends on."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:_DIGITS]


class Store:
    """A folder of results. Each is a file of JSON, or a file or folder that is made in place.

    Several processes may use it at the same time.

    Parameters
    ----------
    folder : Path
        The folder, made with its parents.
    named : Path, optional
        What errors call it.

    Attributes
    ----------
    folder : Path

    Raises
    ------
    InputError
        It cannot be made or written.
    """

    def __init__(self, folder: Path, *, named: Path | None = None) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {reason(error)} (--output)", path=named or folder) from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError("cannot be written: read only (--output)", path=folder)

    def find(self, inputs: dict[str, Any], *, verified: bool) -> dict[str, Any] | None:
        """Return the result of a measurement that was made before, None when there is none.

        Parameters
        ----------
        inputs : dict
            Everything that it depends on.
        verified : bool
            Take over only what was checked.
        """
        try:
            stored = json.loads(self._path(inputs).read_bytes())
            # Another measurement, or what an older program wrote: measured again. Of JSON, which has no tuples.
            if stored["inputs"] != json.loads(json.dumps(inputs)):
                return None
            result: dict[str, Any] = stored["result"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None if verified and not result.get("verified") else result

    def add(self, inputs: dict[str, Any], result: dict[str, Any]) -> None:
        """Keep a measurement.

        Raises
        ------
        InputError
            The file could not be written.
        """
        write_json(str(self._path(inputs)), {"inputs": inputs, "result": result})

    def remove(self, inputs: dict[str, Any]) -> None:
        """Forget a measurement, if it is there."""
        self._path(inputs).unlink(missing_ok=True)

    def _path(self, inputs: dict[str, Any]) -> Path:
        return self.folder / f"{measurement_digest(inputs)}.json"

    def make(self, name: str, make: Callable[[Path], None]) -> Path:
        """Return a file or folder of the store, made unless it is there; where another process makes it, wait for that.

        Parameters
        ----------
        name : str
            Its name, with the digest of all that went in.
        make : callable
            Makes it under a name that is not there yet, with the same suffix.
        """
        path = self.folder / name
        if not path.exists():
            with alone(self._work(name)) as work:
                if not path.exists():
                    make(work / name)
                    (work / name).rename(path)
        return path

    def clear(self, name: str) -> None:
        """Remove what is left of something that nobody makes any more."""
        with suppress(OSError), private_folder(self._work(name)) as mine:
            if mine:
                shutil.rmtree(self._work(name))

    def _work(self, name: str) -> Path:
        return self.folder / f".{name}"
