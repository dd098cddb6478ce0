"""VCD files: text, which every viewer reads."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sim.observation.waves.variables import Variable, walk
from sim.observation.waves.writer import NativeSink, WaveWriter

__all__ = ["VcdWriter"]

_COMMENT = "one nanosecond stands for one cycle"


class VcdWriter(WaveWriter):
    """Writes a VCD file.

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

    def key(self, variable: Variable) -> tuple[int, bytes]:
        """Return what the file calls a variable, as a number and as text."""
        return variable.number, _key(variable.number).encode()

    def show(self, cycle: int, changes: Iterable[tuple[Variable, bytes]]) -> None:
        """Write the changes of a cycle."""
        text = "".join(self._change(variable, value) for variable, value in changes)
        if text:
            text = f"$dumpvars\n{text}$end\n" if self._whole else text
            self._whole = False
            self._file.write(f"#{cycle}\n{text}".encode())

    @property
    def native(self) -> NativeSink:
        """How native code writes what `show` would."""
        return NativeSink(descriptor=self._file.fileno())

    def finish(self, cycle: int) -> None:
        """Complete the file."""
        with self._file:
            self._file.write(f"#{cycle}\n".encode())

    def discard(self) -> None:
        """Close the file."""
        # What waits to be written may have no room any more.
        with suppress(OSError):
            self._file.close()

    @staticmethod
    def _change(variable: Variable, value: bytes) -> str:
        key = _key(variable.number)
        if variable.names is not None:
            return f"s{variable.text(value)} {key}\n"
        return f"{value.decode()}{'' if len(value) == 1 else ' '}{key}\n"


def _key(number: int) -> str:
    """Return a short name of printable characters."""
    text = ""
    while True:
        number, digit = divmod(number, 94)
        text += chr(33 + digit)
        if number == 0:
            return text
