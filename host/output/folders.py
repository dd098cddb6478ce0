"""Folders that one run uses at a time, and that hold nothing but what runs have written."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from cyscc.host.output.errors import InputError, refusing
from cyscc.host.output.files import removing_empty
from cyscc.sim.files import is_temporary, lock_folder


class OwnFolder:
    """A folder locked for one run. Subclasses say what may be in it; temporary files may always be.

    Parameters
    ----------
    path : Path
        The folder.
    create : bool
        Create it if it does not exist.
    refused : mapping of str to str
        Causes of refusal by the names of entries that the folder must not have.

    Attributes
    ----------
    path : Path

    Raises
    ------
    InputError
        The folder cannot be used, holds something else, or is in use.
    """

    CONTENT: ClassVar[str]
    """Its contents in words, for messages."""
    NOTE: ClassVar[str] = ""
    """End of every message, such as the option that names the folder."""
    FILES: ClassVar[re.Pattern[str]]
    """Names of its files."""
    FOLDERS: ClassVar[Mapping[str, re.Pattern[str] | None]]
    """Names of the files of each subfolder; None if it may hold anything."""
    PLAIN: ClassVar[bool] = False
    """Whether links, devices and pipes are refused, although their names are right."""

    def __init__(self, path: Path, *, create: bool, refused: Mapping[str, str] = MappingProxyType({})) -> None:
        self.path = path
        with refusing(OSError, ValueError, after=self.NOTE, path=path):
            self._made = create and not path.exists()
            with removing_empty(path):
                if self._made:
                    path.mkdir()
                causes = [cause for name, cause in refused.items() if os.path.lexists(path / name)]
                causes += [f"is no folder of {self.CONTENT}: it holds {name}" for name in sorted(self._foreign())]
                if causes:
                    raise InputError(f"{causes[0]}{self.NOTE}", path=path)
                self._lock = lock_folder(path)
        if self._lock is None:
            raise InputError(f"is in use by another run{self.NOTE}", path=path)

    def _foreign(self) -> Iterator[str]:
        """Yield the names of what no run wrote into the folder: it is not to be removed, nor links followed."""
        for entry in os.scandir(self.path):
            if not (entry.name in self.FOLDERS and entry.is_dir(follow_symlinks=False)):
                if not self._is_own(entry, self.FILES):
                    yield entry.name
            elif (names := self.FOLDERS[entry.name]) is not None:
                yield from (f"{entry.name}/{each.name}" for each in os.scandir(entry) if not self._is_own(each, names))

    def _is_own(self, entry: "os.DirEntry[str]", names: re.Pattern[str]) -> bool:
        named = names.fullmatch(entry.name) is not None or is_temporary(entry.name)
        return named and (not self.PLAIN or entry.is_file(follow_symlinks=False))

    def close(self) -> None:
        """Release the lock on the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
