"""The folder of a record: one run at a time, complete or not there."""

import os
from contextlib import suppress
from pathlib import Path

from host.errors import InputError
from host.output import reason
from host.record.reader import DOCUMENT, FAILURE
from host.record.tables import TABLES
from host.record.writer import PARTS
from sim.locks import lock_folder
from sim.temporary import is_temporary

__all__ = ["LAST_CYCLES", "RecordFolder"]

LAST_CYCLES = "last.fst"
"""File of the waveforms of the cycles in which a run failed."""

_LEFT = {FAILURE, LAST_CYCLES}
_OWN = {PARTS, *(f"{table.name}.parquet" for table in TABLES)}


class RecordFolder:
    """A folder that a run is recorded in; nobody else may use it meanwhile.

    Parameters
    ----------
    path : Path
        The folder, made if it is not there.
    resumed : bool
        Whether the run is taken up again, so that the folder may hold what was written of it.

    Raises
    ------
    InputError
        It cannot be used, holds a record or something else, or is in use.
    """

    def __init__(self, path: Path, *, resumed: bool) -> None:
        self.path = path
        try:
            self._made = not path.exists()
            if self._made:
                path.mkdir()
            held = {entry.name for entry in os.scandir(path) if not is_temporary(entry.name)} - _OWN
            if DOCUMENT in held and not resumed:
                raise InputError("holds a record: remove it, or name another folder (--record)", path=path)
            if FAILURE in held and not resumed:
                raise InputError(
                    "holds what a failed run left: remove it, or name another folder (--record)", path=path
                )
            other = min(held - {DOCUMENT} - _LEFT, default=None)
            if other is not None:
                raise InputError(f"is no folder of a record: it holds {other} (--record)", path=path)
            self._lock = lock_folder(path)
        except OSError as error:
            raise InputError(f"{reason(error)} (--record)", path=path) from None
        if self._lock is None:
            raise InputError("is in use by another run (--record)", path=path)

    def clear(self, *, complete: bool) -> None:
        """Remove what only a run that goes on needs, and all else that was written of a record that is not complete."""
        with suppress(OSError):
            for entry in os.scandir(self.path / PARTS):
                os.unlink(entry.path)
            (self.path / PARTS).rmdir()
        if complete:
            for name in _LEFT:
                (self.path / name).unlink(missing_ok=True)
        else:
            for name in _OWN - {PARTS}:
                (self.path / name).unlink(missing_ok=True)
            if self._made and not (self.path / FAILURE).exists():
                with suppress(OSError):
                    self.path.rmdir()

    def close(self) -> None:
        """Let others use the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
