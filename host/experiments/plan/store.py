"""A store of results on disk: made in place, found by the digest of their inputs, and sealed.

A result is a folder, ``DIGEST/result.json``, with the files that belong to it; it can be read without this program. It
appears by a rename when it is complete, so that a process that is killed leaves nothing half done. One that is damaged
is made again. Libraries for caches (diskcache, joblib) by default store pickles, whose reading can run code; joblib's
key covers one function's source, not all that it calls.
"""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

from cyscc.host.experiments.plan.request import Measured, Request
from cyscc.host.output.documents import read_sealed, write_sealed
from cyscc.host.output.errors import InputError, refusing
from cyscc.host.output.files import removing_empty
from cyscc.sim.files import alone, private_folder, remove_entry
from cyscc.sim.notices import notice

RESULT = "result.json"
"""File of a result's folder with its inputs and the result."""


class Store:
    """A folder of results, which several processes may use at the same time.

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
            with refusing(OSError, before="cannot be made: ", after=" (--output)", path=named or folder):
                folder.mkdir(parents=True, exist_ok=True)
            # What is made in it needs locks.
            with refusing(OSError, after=" (--output)", path=named or folder), private_folder(folder):
                pass
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError("cannot be written: read only (--output)", path=folder)

    def folder_of(self, request: Request) -> Path:
        """Return the folder of a result, which exists only if it is complete."""
        return self.folder / request.digest

    def find(self, request: Request, *, verified: bool = False) -> Measured | None:
        """Return the stored result of a request; None if there is none, or it is damaged, which is said.

        Parameters
        ----------
        request : Request
            The request.
        verified : bool
            Whether to accept only verified results.
        """
        try:
            return self._read(request, verified=verified)
        except InputError as error:
            notice(f"{error}: it is made again")
            return None

    def make(self, request: Request, *, verify: bool = False, again: bool = False, most: int | None = None) -> Measured:
        """Return the result of a request, and make it if it is missing or damaged.

        If another process is making it, wait for that process.

        Parameters
        ----------
        request : Request
            The request.
        verify : bool
            Whether to verify the result; one that was not verified is then made again.
        again : bool
            Whether to make one that exists.
        most : int, optional
            Cycles after which a run is given up.

        Raises
        ------
        InputError, SimulationError
            It failed.
        OSError
            It cannot be written.
        """
        with alone(self._work(request)) as work:
            with suppress(InputError):
                found = self._read(request, verified=verify)
                if found is not None and not again:
                    return found
            made = work / request.digest
            made.mkdir()
            result = request.make(made, self, verify=verify, most=most)
            write_sealed(made / RESULT, {"inputs": request.inputs(), "result": result})
            remove_entry(self.folder_of(request))
            made.rename(self.folder_of(request))
        return result

    def remove(self, request: Request) -> None:
        """Remove the result of a request, if there is one."""
        remove_entry(self.folder_of(request))

    def clear(self, request: Request) -> None:
        """Remove the leftovers of an interrupted `make`, unless a process is at work on the result."""
        with suppress(OSError), private_folder(self._work(request)) as mine:
            if mine:
                shutil.rmtree(self._work(request))

    def _read(self, request: Request, *, verified: bool) -> Measured | None:
        """Return a stored result; None if there is none; raise an InputError if it is damaged."""
        folder = self.folder_of(request)
        if folder.is_symlink():
            raise InputError("is a link, which is not followed here", path=folder)
        if not folder.exists():
            return None
        path = folder / RESULT
        try:
            stored = read_sealed(path)
        except FileNotFoundError:
            raise InputError("is not there", path=path) from None
        # Compare as JSON, which has no tuples.
        if stored.get("inputs") != json.loads(json.dumps(request.inputs())):
            raise InputError("has other inputs", path=path)
        result: Measured = stored.get("result", {})
        with refusing(ValueError, before="holds no such result: ", path=path):
            request.check(result)
        request.check_files(folder, result)
        return None if verified and not result.get("verified") else result

    def _work(self, request: Request) -> Path:
        return self.folder / f".{request.digest}"
