"""Waveform files: a simulator's own VCD file, cut to the cycles and signals that are wanted, with values by name."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import gettempdir
from typing import Any, BinaryIO

from sim.errors import SimulationError
from sim.notices import notice
from sim.observation.signals import Locate, Names
from sim.temporary import temporary_file

__all__ = ["Waves", "convert"]

_COMMENT = "one nanosecond stands for one cycle"

_PATIENCE = 1.0
"""Seconds that the waveforms of an interrupted run may take."""


class Waves:
    """A waveform file in the making.

    Parameters
    ----------
    output : pathlib.Path
        The file; it appears, complete, with `finish`. Where it is a link, the file that the link names.
    window : tuple of int, optional
        First and last cycle to show; all by default.
    locate : Locate
        Where variables are shown.
    cycle_of : callable
        Converts a time of the simulator's file to a cycle.

    Attributes
    ----------
    raw : pathlib.Path
        Where the simulator is to write.
    window : tuple of int
        First and last cycle to show.

    Raises
    ------
    sim.errors.SimulationError
        The folder cannot be written.
    """

    def __init__(
        self,
        output: Path,
        window: tuple[int, int] | None,
        *,
        locate: Locate,
        cycle_of: Callable[[int], int] = int,
    ) -> None:
        self._named = output
        self._output = output.resolve()
        self._locate = locate
        self._cycle_of = cycle_of
        # A device or a pipe has no place beside it for temporary files.
        self._in_place = self._output.exists() and not self._output.is_file()
        self.window = window or (0, 1 << 62)
        self._files = ExitStack()
        beside = Path(gettempdir(), "cyscc.vcd") if self._in_place else self._output
        try:
            self.raw = self._files.enter_context(temporary_file(beside))
        except OSError as error:
            raise self._refusal(error) from None

    def finish(self, cycles: int) -> None:
        """Write the file from what the simulator has written, which is complete by now.

        There is none if the run ended before the window. While an interrupt is being handled no more than a second is
        taken: the file then ends at an earlier cycle, and a line says so.

        Parameters
        ----------
        cycles : int
            Cycles that were simulated.

        Raises
        ------
        sim.errors.SimulationError
            The file cannot be written.
        """
        until = time.monotonic() + _PATIENCE if isinstance(sys.exception(), KeyboardInterrupt) else None
        try:
            if cycles <= self.window[0]:
                return
            if self._in_place:
                self._convert(self._output, cycles, until)
                return
            with temporary_file(self._output) as complete:
                self._convert(complete, cycles, until)
                complete.replace(self._output)
        except OSError as error:
            raise self._refusal(error) from None
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove what the simulator has written."""
        self._files.close()

    def _convert(self, target: Path, cycles: int, until: float | None) -> None:
        with self.raw.open("rb") as raw, target.open("wb") as output:
            end = convert(
                raw,
                output,
                locate=self._locate,
                cycle_of=self._cycle_of,
                window=self.window,
                cycles=cycles,
                until=until,
            )
        if end < min(cycles, self.window[1] + 1):
            notice(f"{self._named}: cut at cycle {end:,} of {cycles:,}, since the run was interrupted")

    def _refusal(self, error: OSError) -> SimulationError:
        return SimulationError(f"{self._named}: {error.strerror}: the waveforms cannot be written")


def convert(
    raw: Iterable[bytes],
    output: BinaryIO,
    *,
    locate: Locate,
    cycle_of: Callable[[int], int],
    window: tuple[int, int],
    cycles: int,
    until: float | None = None,
) -> int:
    """Convert a simulator's VCD file.

    The values at the first cycle of the window are written whole, then the changes. Of several changes in a cycle the
    last counts. The time is the cycle.

    Parameters
    ----------
    raw : iterable of bytes
        Lines of the simulator's file.
    output : binary file
        Where to.
    locate : Locate
        Where variables are shown.
    cycle_of : callable
        Converts a time to a cycle.
    window : tuple of int
        First and last cycle to show.
    cycles : int
        Cycles that were simulated.
    until : float, optional
        Time of the monotonic clock at which to end, whole cycles being written.

    Returns
    -------
    int
        The cycle that the file ends with.
    """
    first, last = window
    lines = iter(raw)
    variables = _Variables()
    variables.read(lines, locate)
    output.write(variables.header().encode())
    targets = variables.targets
    changed: dict[bytes, bytes] = {}
    shown: dict[bytes, bytes] = {}
    now = 0
    for line in lines:
        kind = line[:1]
        if kind == b"#":
            cycle = cycle_of(int(line[1:]))
            if cycle > now:
                if cycle > first:
                    _show(output, max(now, first), changed, shown=shown, targets=targets)
                now = cycle
                if now > last:
                    break
                if until is not None and time.monotonic() > until:
                    output.write(b"#%d\n" % now)
                    return now
            continue
        if kind in b"01xz":
            value, key = kind, line[1:].strip()
        elif kind in b"bs":
            value, key = line.split()
        else:
            continue
        if key in targets:
            changed[key] = value
    end = min(cycles, last + 1)
    if end > first:
        if now < end:
            _show(output, max(now, first), changed, shown=shown, targets=targets)
        output.write(b"#%d\n" % end)
    return end


def _show(
    output: BinaryIO,
    cycle: int,
    changed: dict[bytes, bytes],
    *,
    shown: dict[bytes, bytes],
    targets: dict[bytes, list["_Target"]],
) -> None:
    """Write the changes of a cycle, and forget them."""
    whole = not shown
    parts = [
        target.change(value) for key, value in changed.items() if shown.get(key) != value for target in targets[key]
    ]
    shown |= changed
    changed.clear()
    if parts:
        changes = b"".join(parts)
        output.write(b"#%d\n" % cycle + (b"$dumpvars\n%s$end\n" % changes if whole else changes))


class _Target:
    """A variable that is shown."""

    def __init__(self, number: int, names: Names | None) -> None:
        self.key = _key(number)
        self._plain = self.key.encode() + b"\n"
        self._spaced = b" " + self._plain
        self._names = names
        self._known: dict[bytes, bytes] = {}

    def change(self, value: bytes) -> bytes:
        """Return the line by which the variable takes a value, given as in the simulator's file."""
        if self._names is None:
            return value + (self._plain if len(value) == 1 else self._spaced)
        line = self._known.get(value)
        if line is None:
            line = self._known[value] = b"s" + self._name(value, self._names).encode() + self._spaced
        return line

    @staticmethod
    def _name(value: bytes, names: Names) -> str:
        text = value.decode()
        if text.startswith("s"):
            # The simulator has decoded it already; a state is followed by its number there.
            return text[1:].partition("/")[0]
        digits = text.removeprefix("b")
        return names.get(int(digits, 2), str(int(digits, 2))) if set(digits) <= set("01") else digits


def _key(number: int) -> str:
    """Return a short name of printable characters."""
    text = ""
    while True:
        number, digit = divmod(number, 94)
        text += chr(33 + digit)
        if number == 0:
            return text


class _Variables:
    """The variables that are shown, and those of the simulator's file that they come from."""

    def __init__(self) -> None:
        self.targets: dict[bytes, list[_Target]] = {}
        self._scopes: dict[str, Any] = {}

    def read(self, lines: Iterator[bytes], locate: Locate) -> None:
        """Read the head of a simulator's file."""
        found: dict[tuple[bytes, bool, str], _Target] = {}
        scope: list[str] = []
        for line in lines:
            words = line.split()
            match words[:1]:
                case [b"$scope"]:
                    scope.append(words[2].decode())
                case [b"$upscope"]:
                    scope.pop()
                case [b"$enddefinitions"]:
                    return
                case [b"$var"]:
                    key = words[3]
                    place = locate((*scope, words[4].decode().removeprefix("\\")))
                    if place is None:
                        continue
                    path, names = place
                    table = (key, names is None, "" if names is None else repr(sorted(names.items())))
                    if table not in found:
                        found[table] = _Target(len(found), names)
                        self.targets.setdefault(key, []).append(found[table])
                    self._add(path, int(words[2]), found[table], named=names is not None)

    def _add(self, path: tuple[str, ...], width: int, target: _Target, *, named: bool) -> None:
        scope = self._scopes
        for name in path[:-1]:
            scope = scope.setdefault(name, {})
        name = path[-1]
        kind = "string 1" if named else f"wire {width}"
        # No scope has a space in its name, so that signals and scopes never meet.
        scope[f"{name} {target.key}"] = f"$var {kind} {target.key} {name} $end\n"

    def header(self) -> str:
        """Return the head of the file."""
        lines = [f"$comment {_COMMENT} $end\n$timescale 1 ns $end\n"]
        _declare(self._scopes, lines)
        return "".join([*lines, "$enddefinitions $end\n"])


def _declare(scope: dict[str, Any], lines: list[str]) -> None:
    lines += [content for content in scope.values() if isinstance(content, str)]
    for name, content in scope.items():
        if isinstance(content, dict):
            lines.append(f"$scope module {name} $end\n")
            _declare(content, lines)
            lines.append("$upscope $end\n")
