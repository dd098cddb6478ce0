"""Reading waveform files back, by what others have written for that."""

from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pylibfst
from vcd.reader import TokenKind, tokenize

Change = tuple[int, str]


class Recording(NamedTuple):
    """Content of a file: the changes of each signal, as time and value, and the time of its end."""

    changes: dict[tuple[str, ...], list[Change]]
    end: int

    @property
    def first(self) -> int:
        """First cycle of the window: every signal has a value in it."""
        return min(changes[0][0] for changes in self.changes.values() if changes)

    def values(self, name: str) -> list[int]:
        """Return the number that a signal shows in each cycle of the window, given its path with dots."""
        changes = self.changes[*name.split("."),]
        times = [*(time for time, _ in changes[1:]), self.end]
        return [int(value) for (time, value), then in zip(changes, times, strict=True) for _ in range(time, then)]


def unread(path: tuple[str, ...]) -> bool:
    """Return whether a signal may be anything at times: the number of the link that a request would take."""
    place = path[3:]
    if path[1] != "switch" or place in (("reads", "link"), ("writes", "link")):
        return path[1] == "switch"
    return place[:1] == ("order",) and place[-1] in ("input__payload", "link", "w_data", "w_port__data")


def recording(path: Path) -> Recording:
    """Read a file; bits are shown as a number."""
    return _fst(path) if path.suffix == ".fst" else _vcd(path.read_bytes())


def _vcd(content: bytes) -> Recording:
    keys: dict[tuple[str, ...], str] = {}
    changes: dict[str, list[Change]] = {}
    scope: list[str] = []
    time = 0
    for token in tokenize(BytesIO(content)):
        match token.kind:
            case TokenKind.SCOPE:
                scope.append(token.scope.ident)
            case TokenKind.UPSCOPE:
                scope.pop()
            case TokenKind.VAR:
                keys[*scope, token.var.reference] = token.var.id_code
            case TokenKind.CHANGE_TIME:
                time = token.time_change
            case TokenKind.CHANGE_SCALAR:
                changes.setdefault(token.scalar_change.id_code, []).append((time, token.scalar_change.value))
            case TokenKind.CHANGE_VECTOR:
                changes.setdefault(token.vector_change.id_code, []).append((time, str(token.vector_change.value)))
            case TokenKind.CHANGE_STRING:
                changes.setdefault(token.string_change.id_code, []).append((time, token.string_change.value))
    return Recording({path: changes.get(key, []) for path, key in keys.items()}, time)


def _fst(path: Path) -> Recording:
    lib: Any = pylibfst.lib
    reader = lib.fstReaderOpen(str(path).encode())
    assert reader != pylibfst.ffi.NULL, "no FST file"
    try:
        _, signals = pylibfst.get_scopes_signals2(reader)
        changes: dict[int, list[Change]] = {}

        def bits(_: object, time: int, handle: int, value: Any) -> None:
            text = pylibfst.string(value)
            changes.setdefault(handle, []).append((time, str(int(text, 2)) if set(text) <= set("01") else text))

        def text(_: object, time: int, handle: int, value: Any, length: int) -> None:
            changes.setdefault(handle, []).append((time, pylibfst.ffi.buffer(value, length)[:].decode()))

        lib.fstReaderSetFacProcessMaskAll(reader)
        pylibfst.fstReaderIterBlocks2(reader, bits, text, None)
        # What a section begins with is told again there; before the first change nothing is known.
        return Recording(
            {
                tuple(name.split(".")): _distinct(changes.get(signal.handle, []))
                for name, signal in signals.by_name.items()
            },
            lib.fstReaderGetEndTime(reader),
        )
    finally:
        lib.fstReaderClose(reader)


def _distinct(changes: list[Change]) -> list[Change]:
    """Leave out what changes nothing, and all but the last of several in a cycle."""
    last = dict(changes)
    kept: list[Change] = []
    for change in last.items():
        if not set(change[1]) <= set("x") and (not kept or kept[-1][1] != change[1]):
            kept.append(change)
    return kept
