"""Views that open waveforms in a viewer: zoomed to the window, marked where the event is, its signals first.

A view shows the signals of the event, the processes of its kernel, the causes of all kernels and the shell of its AE.
All other signals are in the waveform file, too. A file with few signals shows all of them.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from io import StringIO
from math import ceil, log2
from pathlib import Path
from string import digits

from cyscc.sim.files import replaced
from cyscc.sim.observation.waves.variables import Variable


@dataclass(frozen=True, kw_only=True)
class Focus:
    """What a view shows first.

    Parameters
    ----------
    cycle : int
        Cycle of the event.
    event : str
        Name of the event, a key of `FIRST`; others have only general signals.
    label : str
        Text that describes the event, as short as its name; may be empty.
    module : str
        Kind of the kernels that are at work, ``bfs`` or ``intersection``.
    kernel : str, optional
        The kernel of the event, such as ``engine0.bfs3``; the first of the module by default.
    fifo : str, optional
        The FIFO of the event.
    """

    cycle: int
    event: str
    label: str
    module: str = "bfs"
    kernel: str | None = None
    fifo: str | None = None


LEVELS: Mapping[str, str] = {
    "frontier": "frontier_reader.fill",
    "neighbours": "neighbour_reader.fill",
    "words": "word_reader.fill",
    "visits": "visitor.level",
    "marks": "visitor.fill",
    "entries": "reach_reader.fill",
    "colours": "colour_reader.fill",
    "unvisits": "classifier.fill",
}
"""Signals of a kernel with the occupancy of its FIFOs."""

_READ = ("port__read__valid", "port__read__ready", "port__read__payload.tag", "port__read__payload.address")
_WRITE = ("port__write__valid", "port__write__ready", "port__write__payload.address", "port__write__payload.data")
_ISSUE = ("mux.granted", "mux.source?__valid", "mux.source?__ready", *_READ)
_LEVELS = tuple(LEVELS.values())
_TOKEN = (
    *("token_in__valid", "token_in__payload.value", "token_in__payload.done", "token_out__valid"),
    *("block__valid", "block__payload.first", "block__payload.count"),
)
_RUN = ("control.phase", "control.state.*idle", "done", *_TOKEN)

FIRST: Mapping[str, Sequence[str]] = {
    "slot": (
        *("visitor.waiting", "visitor.level", "allocator.demanded", "allocator.reserved"),
        *("allocator.slot__valid", "allocator.slot__ready", "allocator.slot__payload.number", *_TOKEN),
    ),
    "credit": ("*.starved", "*_reader.credits", "classifier.credits", *_LEVELS),
    "refused": ("mux.blocked", *_READ, *_WRITE),
    "response": ("port__response__valid", "port__response__payload.tag", "port__response__payload.data", *_LEVELS),
    "flush": ("control.phase", "port__flush", "port__flushed", *_WRITE),
    "resting": ("mux.resting", *_ISSUE),
    "issue_1": _ISSUE,
    "issue_2": _ISSUE,
    "issue_3": _ISSUE,
    "write": ("visitor.step", "visitor.pushed", "classifier.paint__valid", "unvisit_writer.command__valid", *_WRITE),
    "full": _LEVELS,
    "fifo": _LEVELS,
    "duplicate": ("visitor.step", "visitor.pushed", *_WRITE),
    "overflow": ("error", "visitor.overflow", "visitor.slot__*", "visitor.slot__payload.*", "allocator.capacity"),
    "start": _RUN,
    "idle": _RUN,
    "error": (*_RUN, "mux.blocked", *_READ, *_WRITE),
    "hang": (*_RUN, "mux.blocked", *_READ, *_WRITE),
}
"""Globs of a kernel's signals that show an event, in order, after its cause; without its name."""

_GENERAL = ("control.phase", *_LEVELS, *_READ, *_WRITE, "port__response__valid", "port__response__payload.tag")

_PROCESSES = (
    *("port", "frontier_reader", "neighbour_reader", "copy_filter", "word_reader", "visitor", "allocator"),
    *("reach_reader", "colour_reader", "classifier", "unvisit_writer", "start_finder", "mux", "control"),
)
"""Parts of a kernel in the order of a view. A part is the beginning of a name: the port is no scope."""

_TOLD = ("valid", "ready", "level", "fill", "credits", "starved", "waiting", "pushed", "demanded", "reserved")
"""Suffixes of the signals of a process or a shell in a view, besides those with named values."""

_CARRIED = ("vertex", "address", "data", "number", "value")
"""Fields of payloads in a view."""

_FEW = 300
"""Most signals of a file whose view shows all of them."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Signals below a title.

    Parameters
    ----------
    title : str
        The title.
    signals : mapping of str to Variable
        The signals by the name shown.
    open : bool
        Whether the signals are visible at first.
    """

    title: str
    signals: Mapping[str, Variable]
    open: bool


@dataclass(frozen=True, kw_only=True)
class View:
    """Contents of a view, for any viewer.

    Parameters
    ----------
    waveform : str
        Name of the waveform file, in the same folder.
    first, end : int
        First cycle of the window, and the cycle after its last.
    focus : Focus or None
        The event; None for a window without one.
    scope : str
        The scope that a viewer lists beside the view.
    groups : sequence of Group
        The groups in order.
    """

    waveform: str
    first: int
    end: int
    focus: Focus | None
    scope: str
    groups: Sequence[Group]

    @classmethod
    def of(cls, waveform: str, variables: Sequence[Variable], window: tuple[int, int], focus: Focus | None) -> "View":
        """Return the view of a waveform file, given its variables, its first cycle and the cycle after its last."""
        parts: _Parts = {}
        for variable in variables:
            parts.setdefault(".".join(variable.path[:2]), {})[".".join(variable.path[2:])] = variable
        kernels = [part for part in parts if _module(part) in ("bfs", "intersection")]
        wanted = [] if focus is None else [focus.kernel, *(each for each in kernels if _module(each) == focus.module)]
        kernel = next((each for each in [*wanted, *kernels] if each in kernels), None)
        event = {} if focus is None or kernel is None else _chosen(parts[kernel], focus)
        groups = []
        if focus is not None and kernel is not None:
            late = {_LATE if name == "cause" else name: event[name] for name in event}
            title = ": ".join(filter(None, (kernel, focus.label)))
            if kernel != focus.kernel:
                title = f"{kernel}, for example"
            groups.append(Group(title=title, signals=late, open=True))
        if len(variables) <= _FEW:
            for part, signals in parts.items():
                named = {name or part: signal for name, signal in signals.items()}
                groups.append(Group(title=part, signals=named, open=True))
        else:
            overview = focus is None or focus.kernel is None
            shell = None if kernel is None else f"{kernel.partition('.')[0]}.shell"
            starts = focus is not None and focus.event == "start"
            causes = list(_causes(parts, kernels, overview=overview))
            processes = [] if kernel is None else list(_processes(kernel, parts[kernel], event))
            groups += [*causes, *processes] if overview else [*processes, *causes]
            groups += [
                Group(title=part, signals=dict(filter(_is_told, signals.items())), open=starts and part == shell)
                for part, signals in parts.items()
                if part.endswith(".shell")
            ]
        return cls(
            waveform=waveform,
            first=window[0],
            end=window[1],
            focus=focus,
            scope=kernel or next(iter(parts)),
            groups=[group for group in groups if group.signals],
        )


def _module(part: str) -> str:
    """Return the kind of an instance of an AE: its name without its number."""
    return part.partition(".")[2].rstrip(digits)


_Parts = dict[str, dict[str, Variable]]
"""Signals by kernel or shell, and by their dotted path in it."""


def _chosen(signals: Mapping[str, Variable], focus: Focus) -> dict[str, Variable]:
    """Return the signals of a kernel that show an event."""
    names = sorted(signals)
    globs = ["cause", *FIRST.get(focus.event, _GENERAL)]
    if focus.fifo is not None and focus.fifo in LEVELS:
        level = LEVELS[focus.fifo]
        globs = ["cause", level, f"{level.partition('.')[0]}.*__[rv]*"]
        # A glob's asterisk also matches dots: without the parts of the process.
        names = [name for name in names if name.count(".") <= 1]
    return {name: signals[name] for glob in globs for name in names if fnmatchcase(name, glob)}


def _is_told(item: tuple[str, Variable]) -> bool:
    """Whether a signal of a process or shell is in its group: no part of a part, and of a payload only some fields."""
    *scopes, last = item[0].split(".")
    payload = bool(scopes) and scopes[-1].endswith("payload")
    told = item[1].names is not None or (last in _CARRIED if payload else last.endswith(_TOLD))
    return told and len(scopes) <= 1 + payload


def _processes(kernel: str, signals: Mapping[str, Variable], event: Mapping[str, Variable]) -> Iterator[Group]:
    """Yield a group for each process of a kernel, without the signals of the event, whose processes are open."""
    for process in _PROCESSES:
        own = {name: signal for name, signal in filter(_is_told, signals.items()) if name.startswith(process)}
        rest = {name.removeprefix(f"{process}."): own[name] for name in own if name not in event}
        yield Group(title=f"{kernel} {process}", signals=rest, open=not event or len(rest) < len(own))


def _causes(parts: _Parts, kernels: Iterable[str], *, overview: bool) -> Iterator[Group]:
    """Yield a group for each AE with the causes of its kernels; in an overview the first is open."""
    found: _Parts = {}
    for kernel in kernels:
        engine, _, name = kernel.partition(".")
        if "cause" in parts[kernel]:
            found.setdefault(engine, {})[f"{name}.cause"] = parts[kernel]["cause"]
    for engine, causes in found.items():
        yield Group(title=f"{engine}: causes", signals=causes, open=overview and engine == next(iter(found)))


def _headings(view: View) -> list[str]:
    """Return the lines above all groups: what the viewer's time means, and the event."""
    lines = ["1 ns is 1 cycle"]
    if view.focus is not None:
        lines.append(": ".join(filter(None, (view.focus.label, f"cycle {view.focus.cycle:,}"))))
    return lines


_SIZE = 1280, 800
"""Width and height of GTKWave's window, in pixels."""
_TREE = 180
"""Width of the tree of scopes."""
_REST = 970
"""Width of what is beside the tree and its buttons: names with values, and waveforms."""
_LETTER = 8.1
"""Width of a letter of a name or value."""
_MARGIN = 24
_WIDEST = 640
"""Most width of names with values."""
_UNIT = 200
"""Pixels whose time is GTKWave's zoom, as a negative power of two."""

_LATE = "cause (1 cycle late)"
"""Name of a kernel's cause beside the signals that led to it: it is a register."""

_DECIMAL = (*_TOLD, "number", "value", "vertex", "index")
"""Suffixes of numbers that are shown as decimal ones."""


def _is_decimal(name: str, variable: Variable) -> bool:
    return variable.width > 1 and name.endswith(_DECIMAL)


def _names_width(view: View) -> int:
    """Return the width of the names that are visible at first, with their values, in pixels."""
    names, values = [len(group.title) + 3 for group in view.groups], [0]
    for group in view.groups:
        for name, variable in group.signals.items() if group.open else ():
            names.append(len(name))
            if variable.names is not None:
                values.append(max(map(len, variable.names.values()), default=0))
            else:
                values.append(len(f"{2**variable.width - 1:{'d' if _is_decimal(name, variable) else 'x'}}"))
    return min(int(_LETTER * (max(names, default=0) + 1 + max(values))) + _MARGIN, _WIDEST)


def _gtkwave(view: View) -> str:
    """Return a save file of GTKWave."""
    from vcd.gtkw import GTKWSave

    text = StringIO()
    save = GTKWSave(text)
    save.comment(_MARK)
    save.dumpfile(view.waveform, abspath=False)
    save.timestart(view.first)
    save.size(*_SIZE)
    names = _names_width(view)
    zoom = -log2(_UNIT * max(view.end - view.first, 1) / (_REST - names))
    save.zoom_markers(zoom, -1 if view.focus is None else view.focus.cycle)
    save.treeopen(view.scope.partition(".")[0])
    save.sst_expanded(True)
    text.write(f"[sst_width] {_TREE}\n")
    save.signals_width(names)
    for heading in _headings(view):
        save.blank(heading)
    for group in view.groups:
        with save.group(group.title, closed=not group.open):
            for name, variable in group.signals.items():
                path = ".".join(variable.path)
                if variable.names is None and variable.width > 1:
                    path += f"[{variable.width - 1}:0]"
                number = "dec" if _is_decimal(name, variable) else "hex"
                form = number if variable.names is None else "ascii"
                save.trace(path, alias=name.replace(".", " "), datafmt=form)
    return text.getvalue()


def _surfer(view: View) -> str:
    """Return a command file of Surfer: dividers, whose names are words, stand for the titles of open groups.

    Its time axis begins at 0. There is no command for a range, so the view is narrowed to its least width, a cycle, and
    then doubled until it has the width of the window, at the end of the file.
    """

    def lines() -> Iterator[str]:
        yield f"# {_MARK}"
        yield f"scope_select {view.scope}"
        yield from (f"divider_add {_word(heading)}" for heading in _headings(view))
        for group in view.groups:
            if group.open:
                yield f"divider_add {_word(group.title)}"
                yield from (f"variable_add {'.'.join(variable.path)}" for variable in group.signals.values())
        yield "zoom_fit"
        if view.first > 0:
            yield from ["zoom_in"] * (ceil(log2(view.end)) + 1)
            yield from ["zoom_out"] * ceil(log2(view.end - view.first))
            yield "goto_end"
        if view.focus is not None:
            yield f"cursor_set {view.focus.cycle}"
            yield f"marker_set {_word(view.focus.event)} {view.focus.cycle}"

    return "\n".join(lines()) + "\n"


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text)


_MARK = "Written by cyscc, which overwrites this file unless this line is changed."

VIEWS: Mapping[str, Callable[[View], str]] = {".gtkw": _gtkwave, ".sucl": _surfer}
"""Functions that make views, by file suffix."""


def own_views(waveform: Path) -> Iterator[Path]:
    """Yield the views of a waveform file that are there or may be written: none that the user has saved."""
    for suffix in VIEWS:
        path = waveform.with_suffix(suffix)
        if path.is_file():
            with path.open("rb") as file:
                if _MARK.encode() not in file.readline():
                    continue
        yield path


def write_views(waveform: Path, view: View) -> None:
    """Write the views of a waveform file beside it, except for those that the user has saved.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    for path in own_views(waveform):
        with replaced(path) as temporary:
            temporary.write_bytes(os.fsencode(VIEWS[path.suffix](view)))
