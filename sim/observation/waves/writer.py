"""Writers of waveform files: VCD, which every viewer reads, and FST, by the writer that comes with GTKWave."""

import ctypes
import errno
import os
import shutil
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cyscc.sim.files import hold
from cyscc.sim.observation.waves.variables import Variable, walk

_COMMENT = "one nanosecond stands for one cycle"


class VcdWriter:
    """Writes a VCD file. Times are cycles.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    OSError
        It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._whole = True

    def declare(self, variables: Sequence[Variable]) -> None:
        """Write the head."""
        lines = [f"$comment {_COMMENT} $end\n$timescale 1 ns $end\n"]
        for step in walk(variables):
            match step:
                case ("scope", name):
                    lines.append(f"$scope module {name} $end\n")
                case ("variable", variable):
                    kind = f"wire {variable.width}" if variable.names is None else "string 1"
                    lines.append(f"$var {kind} {_key(variable.number)} {variable.path[-1]} $end\n")
                case _:
                    lines.append("$upscope $end\n")
        self._file.write("".join([*lines, "$enddefinitions $end\n"]).encode())
        # Native code may write next.
        self._file.flush()

    def key(self, number: int) -> tuple[int, bytes]:
        """Return what the file calls the variables of a number, as a number and as text."""
        return number, _key(number).encode()

    def show(self, cycle: int, changes: Iterable[tuple[Variable, int]]) -> None:
        """Write the changes of a cycle. At first, the values of all."""
        text = "".join(self._change(variable, value) for variable, value in changes)
        if text:
            text = f"$dumpvars\n{text}$end\n" if self._whole else text
            self._whole = False
            self._file.write(f"#{cycle}\n{text}".encode())

    @property
    def native(self) -> Mapping[str, int]:
        """Fields of `WaveSink`, by which native code writes in place of `show`; Python must not write meanwhile."""
        return {"descriptor": self._file.fileno()}

    def finish(self, cycle: int) -> None:
        """Complete the file."""
        with self._file:
            self._file.write(f"#{cycle}\n".encode())

    def discard(self) -> None:
        """Close the file."""
        # The disk may be full for buffered data.
        with suppress(OSError):
            self._file.close()

    @staticmethod
    def _change(variable: Variable, value: int) -> str:
        key = _key(variable.number)
        if variable.names is not None:
            return f"s{variable.text(value)} {key}\n"
        return f"{value}{key}\n" if variable.width == 1 else f"b{value:b} {key}\n"


def _key(number: int) -> str:
    """Return a short name of printable characters."""
    text = ""
    while True:
        number, digit = divmod(number, 94)
        text += chr(33 + digit)
        if number == 0:
            return text


_BLOCK_HEAD = 9
"""Bytes of a block's kind and length."""

_WORKPLACE = "/tmp"
"""Folder of the writer's own temporary files, where `tmpfile` of the C library creates them."""

_WORK = 32 << 20
"""Space in bytes that it may need there."""

_LITTLE = 1 << 20
"""A disk with less free space in bytes counts as full: others may have freed a little since the failure."""

_END_TIME = slice(17, 25)
"""Position of the file's end time in the first block."""


class FstWriter:
    """Writes an FST file. Times are cycles. Named values are written as text variables, which every viewer supports.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    OSError
        It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        # Imported here because most runs write no FST file.
        from pylibfst import ffi, lib

        self._path = path
        self._lib: Any = lib
        self._ffi: Any = ffi
        self._handles: dict[int, int] = {}
        # The writer has temporary files there, and its head beside the file, and would crash on a full disk.
        for folder, least in ((_WORKPLACE, _WORK), (path.parent, _LITTLE)):
            if shutil.disk_usage(folder).free < least:
                raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)} in {folder}")
        mode = path.stat().st_mode if path.exists() else None
        lock = None
        while lock is None:
            self._writer: Any = lib.fstWriterCreate(os.fsencode(path), 1)
            if self._writer == ffi.NULL:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            # The writer has replaced the existing file by a new one, which may be removed as abandoned until held.
            with suppress(FileNotFoundError):
                lock = hold(path)
            if lock is None:
                lib.fstWriterClose(self._writer)
        self._lock: int | None = lock
        if mode is not None:
            os.fchmod(self._lock, stat.S_IMODE(mode))
        lib.fstWriterSetPackType(self._writer, lib.FST_WR_PT_LZ4)

    def declare(self, variables: Sequence[Variable]) -> None:
        """Write the head."""
        lib, null, writer = self._lib, self._ffi.NULL, self._writer
        lib.fstWriterSetTimescaleFromString(writer, b"1ns")
        lib.fstWriterSetComment(writer, _COMMENT.encode())
        for step in walk(variables):
            match step:
                case ("scope", name):
                    lib.fstWriterSetScope(writer, lib.FST_ST_VCD_MODULE, name.encode(), null)
                case ("variable", variable):
                    plain = variable.names is None
                    kind = lib.FST_VT_VCD_WIRE if plain else lib.FST_VT_GEN_STRING
                    width = variable.width if plain else 0
                    same = self._handles.get(variable.number, 0)
                    handle = lib.fstWriterCreateVar(
                        writer, kind, lib.FST_VD_IMPLICIT, width, variable.path[-1].encode(), same
                    )
                    self._handles.setdefault(variable.number, handle)
                case _:
                    lib.fstWriterSetUpscope(writer)
        # At the end the writer maps the file of its head into memory: if something of that was lost, it would crash.
        if ctypes.CDLL(None, use_errno=True).fflush(None):
            self._abandon()
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))

    def key(self, number: int) -> tuple[int, bytes]:
        """Return the variables' number in the file; there is no text identifier."""
        return self._handles[number], b""

    def show(self, cycle: int, changes: Iterable[tuple[Variable, int]]) -> None:
        """Write the changes of a cycle."""
        lib, writer = self._lib, self._writer
        lib.fstWriterEmitTimeChange(writer, cycle)
        for variable, value in changes:
            handle = self._handles[variable.number]
            if variable.names is not None:
                text = variable.text(value).encode()
                lib.fstWriterEmitVariableLengthValueChange(writer, handle, text, len(text))
            else:
                lib.fstWriterEmitValueChange(writer, handle, f"{value:0{variable.width}b}".encode())

    @property
    def native(self) -> Mapping[str, int]:
        """How native code writes what `show` would."""
        functions = {"time": "TimeChange", "bits": "ValueChange", "text": "VariableLengthValueChange"}
        return {
            "descriptor": -1,
            "writer": int(self._ffi.cast("uintptr_t", self._writer)),
            "flush": self._address("fstWriterFlushContext"),
            **{name: self._address(f"fstWriterEmit{function}") for name, function in functions.items()},
        }

    def finish(self, cycle: int) -> None:
        """Complete the file, and check that it was written whole, since the writer does not report errors."""
        lib, writer = self._lib, self._writer
        lib.fstWriterEmitTimeChange(writer, cycle)
        lib.fstWriterFlushContext(writer)
        lost = lib.fstWriterGetFseekFailed(writer)
        self._writer = self._ffi.NULL
        lib.fstWriterClose(writer)
        if lost or not _whole(self._path, cycle):
            full = shutil.disk_usage(self._path.parent).free < _LITTLE
            code = errno.ENOSPC if full else errno.EIO
            raise OSError(code, os.strerror(code))

    def discard(self) -> None:
        """Release the writer, and the file, which others may then remove unless it was renamed."""
        writer, self._writer = self._writer, self._ffi.NULL
        lock, self._lock = self._lock, None
        if writer != self._ffi.NULL:
            self._lib.fstWriterClose(writer)
        if lock is not None:
            os.close(lock)

    def _abandon(self) -> None:
        """Leave the writer as it is, since it cannot be closed, and remove the file of its head."""
        self._writer = self._ffi.NULL
        self._path.with_name(f"{self._path.name}.hier").unlink(missing_ok=True)

    def _address(self, name: str) -> int:
        return int(self._ffi.cast("uintptr_t", self._ffi.addressof(self._lib, name)))


def _whole(path: Path, cycle: int) -> bool:
    """Whether a file consists of complete blocks up to its end, and has its end time."""
    from pylibfst import lib

    size = path.stat().st_size
    kinds = set()
    place = 0
    with path.open("rb") as file:
        first = file.read(_END_TIME.stop)
        while place < size:
            file.seek(place)
            head = file.read(_BLOCK_HEAD)
            if len(head) < _BLOCK_HEAD:
                return False
            kinds.add(head[0])
            place += 1 + int.from_bytes(head[1:], "big")
    heads = {lib.FST_BL_HIER, lib.FST_BL_HIER_LZ4, lib.FST_BL_HIER_LZ4DUO}
    named = {lib.FST_BL_HDR, lib.FST_BL_GEOM} <= kinds and bool(heads & kinds)
    return place == size and named and int.from_bytes(first[_END_TIME], "big") == cycle


WaveWriter = VcdWriter | FstWriter
"""Writer of a waveform file."""
