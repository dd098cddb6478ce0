"""The hardware's signals in waveforms: each shown once, in its component's scope, with named values."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, EnumMeta
from functools import lru_cache
from typing import Any

from amaranth.hdl import Format, Fragment, Signal, Value
from amaranth.hdl._ast import Slice
from amaranth.hdl._ir import Design
from amaranth.lib import wiring

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.bfs.tags import Tag as BfsTag
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.intersection.tags import Tag as IntersectionTag
from cyscc.hw.shell import Shell
from cyscc.hw.switch.switch import Switch, SwitchSizes
from cyscc.hw.verilog import port_names

Path = tuple[str, ...]
"""Scopes from the outermost on, then a name. The fields of a signal are in a scope of its name."""

Names = Mapping[int, str]
"""Names of an enumeration's values."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A signal of a component, or one of its fields.

    Parameters
    ----------
    signal : Signal
        The signal.
    path : Path
        Its path in waveforms, within the component.
    names : Names or None
        Names of its values.
    first, width : int
        Its bits within the signal.
    """

    signal: Signal
    path: Path
    names: Names | None
    first: int
    width: int


_TAGS: dict[str, type[Enum]] = {"bfs": BfsTag, "intersection": IntersectionTag}
"""Tags of the kernels' reads, by the kernels' instance name without number."""

_SUFFIX = re.compile(r"\$\d+$")
"""Suffix that Amaranth adds to a duplicate name; the other signal is mostly shown elsewhere."""


def _fields(path: Path, form: Any, *, whole: bool = True) -> Iterator[tuple[Path, Names | None, Value | None]]:
    """Yield a signal and its fields: path, value names, and value unless it is the whole."""
    value = None
    if not whole:
        (value,) = form._chunks[0][:1] if isinstance(form, Format) else (form._value,)
    yield path, form._variants if isinstance(form, Format.Enum) else None, value
    if isinstance(form, Format.Struct):
        for field, inner in form._fields.items():
            yield from _fields((*path, field), inner, whole=False)
    elif isinstance(form, Format.Array):
        for index, inner in enumerate(form._fields):
            yield from _fields((*path, f"{path[-1]}_{index}"), inner, whole=False)


def _extent(signal: Signal, value: Any) -> tuple[int, int]:
    """Return the first bit and the width of a field's value, or of a whole signal without one."""
    if value is None:
        return 0, len(signal)
    width = len(value)
    first = 0
    while value is not signal:
        if isinstance(value, Slice):
            first += value.start
            value = value.value
        else:
            (value,) = value.operands  # read as a signed number
    return first, width


def _states(width: int, decoder: Callable[[int], str]) -> Names:
    """Return the names of a state machine's states."""
    names = {}
    for value in range(1 << width):
        with suppress(KeyError):
            names[value] = decoder(value).partition("/")[0]
    return names


def shown_signals(design: Design) -> Iterator[Shown]:
    """Yield all signals of a component.

    A signal appears in its own component and in those that connect it; it is shown in the innermost.
    """
    places = defaultdict(list)
    for information in design.fragments.values():
        for signal, name in information.signal_names.items():
            if name not in ("clk", "rst"):
                places[id(signal)].append((signal, information.name[1:], name))
    kept = [
        (signal, scope, name)
        for homes in places.values()
        for signal, scope, name in homes
        if not any(len(other) > len(scope) and other[: len(scope)] == scope for _, other, _ in homes)
    ]
    plain_scopes = _without_suffixes({information.name[1:] for information in design.fragments.values()})
    plain_names = _without_suffixes({(*scope, name) for _, scope, name in kept})
    for signal, scope, name in kept:
        shown = tuple(plain_scopes[scope[: depth + 1]] for depth in range(len(scope)))
        place = (*shown, plain_names[*scope, name])
        fields: Iterable[tuple[Path, Names | None, Value | None]]
        if signal._decoder is not None and not isinstance(signal._decoder, EnumMeta):
            fields = [(place, _states(len(signal), signal._decoder), None)]
        else:
            fields = _fields(place, signal._format)
        for path, names, value in fields:
            first, width = _extent(signal, value)
            yield Shown(signal=signal, path=path, names=names, first=first, width=width)


def _without_suffixes(paths: set[Path]) -> dict[Path, str]:
    """Return the last part of each path, without suffix if that is unique, else with its own number."""
    taken = {path for path in paths if path and not _SUFFIX.search(path[-1])}
    plain = {path: path[-1] for path in taken}
    for path in sorted(paths - taken):
        if path:
            name = path[-1]
            short = _SUFFIX.sub("", name)
            plain[path] = name.replace("$", "_") if (*path[:-1], short) in taken else short
            taken.add((*path[:-1], plain[path]))
    return plain


def kind_of(instance: str) -> str:
    """Return the name of an instance without its number."""
    return instance.rstrip("0123456789")


def value_names(shown: Shown, kind: str) -> Names | None:
    """Return the value names of a signal; those of a tag depend on the kind of kernel."""
    if shown.names is None and shown.path[-1] == "tag" and kind in _TAGS:
        return {tag.value: tag.name for tag in _TAGS[kind]}
    return shown.names


@lru_cache(maxsize=2)
def model_signals(config: AcceleratorConfig) -> Mapping[str, list[Path]]:
    """Return the paths of the signals of the compiled executor's waveforms, by instance: ``engine<n>.<instance>``.

    Some of them may be lost where the hardware is simplified. Callers must not change them.
    """
    models: dict[str, wiring.Component] = {
        "bfs": BfsKernel(config, instrument=True),
        "intersection": IntersectionKernel(config, instrument=True),
        "shell": Shell(config, instrument=True),
    }
    if config.link_queues:
        models["switch"] = Switch(SwitchSizes.of(config), instrument=True)
    if config.exchange_kernels:
        models["exchange"] = ExchangeSlice(kernels=config.exchange_kernels)
    designs = {kind: Fragment.get(model, None).prepare(ports=port_names(model)) for kind, model in models.items()}
    tables = {kind: [shown.path for shown in shown_signals(design)] for kind, design in designs.items()}
    counts = {"bfs": config.bfs_kernels, "intersection": config.intersection_kernels}
    if config.exchange_kernels:
        counts["exchange"] = config.exchange_kernels
    single = [kind for kind in models if kind not in counts]
    instances = [*single, *(f"{kind}{number}" for kind, count in counts.items() for number in range(count))]
    return {
        f"{engine}.{instance}": [(engine, instance, *path) for path in tables[kind_of(instance)]]
        for engine in (f"engine{number}" for number in range(config.engines))
        for instance in instances
    }


def accelerator_signals(design: Design) -> Iterator[Shown]:
    """Yield the signals of an accelerator, those outside of AEs in a scope of their own."""
    for shown in shown_signals(design):
        kind = kind_of(shown.path[1]) if len(shown.path) > 1 else ""
        path = shown.path if kind else ("accelerator", *shown.path)
        yield replace(shown, path=path, names=value_names(shown, kind))
