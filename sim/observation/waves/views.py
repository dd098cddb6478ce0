"""Saved views: what viewers are to show of a waveform file at first, grouped by kernel and process.

Shown are the states, causes and tags, which have names, the handshakes of streams, and how full queues are: what tells
where a machine waits. Everything else is in the file all the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path

from sim.observation.waves.variables import Variable

__all__ = ["VIEWS"]

_TOLD = ("valid", "ready", "level")
"""How names of signals end that a view shows besides those whose values have names."""

_DEEPEST = 4
"""Names of the longest path that a view shows: AE, kernel, process, signal."""

_Groups = Mapping[str, Mapping[str, Sequence[Variable]]]
"""Variables by kernel and process; those of the kernel itself have the process ``""``."""


def _groups(variables: Sequence[Variable]) -> _Groups:
    found: dict[str, dict[str, list[Variable]]] = {}
    for variable in variables:
        path = variable.path
        if len(path) <= _DEEPEST and (variable.names is not None or path[-1].endswith(_TOLD)):
            process = path[2] if len(path) == _DEEPEST else ""
            found.setdefault(".".join(path[:2]), {}).setdefault(process, []).append(variable)
    return found


def _gtkwave(waveform: Path, variables: Sequence[Variable], first: int) -> str:
    """Return a save file of GTKWave, in which all groups but the first are closed."""
    from vcd.gtkw import GTKWSave

    text = StringIO()
    view = GTKWSave(text)
    view.dumpfile(waveform.name, abspath=False)
    view.timestart(first)
    for number, (kernel, processes) in enumerate(_groups(variables).items()):
        with view.group(kernel, closed=number > 0):
            for process, shown in sorted(processes.items()):
                if process:
                    view.begin_group(process, closed=True)
                for variable in shown:
                    view.trace(".".join(variable.path), datafmt="hex" if variable.names is None else "ascii")
                if process:
                    view.end_group(process, closed=True)
    return text.getvalue()


def _surfer(waveform: Path, variables: Sequence[Variable], first: int) -> str:
    """Return a command file of Surfer, which has dividers for groups."""

    def lines() -> Iterator[str]:
        for kernel, processes in _groups(variables).items():
            for process, shown in sorted(processes.items()):
                yield f"divider_add {'.'.join(filter(None, (kernel, process)))}"
                for variable in shown:
                    yield f"variable_add {'.'.join(variable.path)}"
        yield "zoom_fit"

    return "\n".join(lines()) + "\n"


VIEWS: Mapping[str, Callable[[Path, Sequence[Variable], int], str]] = {".gtkw": _gtkwave, ".sucl": _surfer}
"""What makes the view of each viewer, by the ending of its file."""
