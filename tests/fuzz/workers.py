"""Worker processes for cases, which a case may kill or block."""

import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.fuzz.parts import Finding, Part

_MEMORY = Path("/dev/shm")  # a file there takes no disk
_FRESH = 4000
"""Cases after which a worker is replaced by a new one."""


def examined(part: Part[Any], case: object, *, within: Path | None = None) -> Finding:
    """Look at a case, in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(dir=within) as folder:
        try:
            return part.examine(case, Path(folder))
        except Exception as error:
            frame = error.__traceback__
            while frame is not None and frame.tb_next is not None:
                frame = frame.tb_next
            place = "" if frame is None else f" ({Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno})"
            return Finding("error", False, f"{type(error).__name__}: {error}{place}")


class Worker:
    """A process that looks at cases.

    Parameters
    ----------
    parts : dict of Part
        Their parts, by name.
    """

    def __init__(self, parts: Mapping[str, Part[Any]]) -> None:
        self._parts = parts
        self._process: Any = None
        self._connection: Connection | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._asked = 0

    def examine(self, part: Part[Any], case: object, *, patience: float | None = None) -> Finding:
        """Look at a case.

        Parameters
        ----------
        part : Part
            Its part.
        case
            The case.
        patience : float, optional
            Seconds, the part's by default.
        """
        self._asked += 1
        if self._asked > _FRESH:
            self.close()
        if self._connection is None:
            self._start()
        connection = self._connection
        assert connection is not None
        patience = patience or part.patience
        try:
            connection.send((part.name, case))
            if connection.poll(patience):
                finding: Finding = connection.recv()
                return finding
            found = Finding("endless", False, f"no end after {patience:.0f} s")
        except (EOFError, OSError):
            self._process.join()
            found = Finding("crash", False, f"the process ended with {self._process.exitcode}")
        self.close()
        return found

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None)
        self._connection, theirs = context.Pipe()
        arguments = (theirs, self._connection, self._parts, Path(self._folder.name))
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self._asked = 0

    def close(self) -> None:
        """End the process."""
        if self._connection is not None and self._folder is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._connection = None
            self._folder.cleanup()


def _serve(connection: Connection, other: Connection, parts: Mapping[str, Part[Any]], folder: Path) -> None:
    """Look at cases until the other end is closed."""
    other.close()
    # An interrupt of the terminal is for whoever started the campaign.
    os.setsid()
    while True:
        try:
            name, case = connection.recv()
        except EOFError:
            shutil.rmtree(folder, ignore_errors=True)
            return
        connection.send(examined(parts[name], case, within=folder))
