"""The hardware's signals in waveforms: each shown once, in its component's scope, with named values."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, EnumMeta
from functools import lru_cache
from typing import Any

from amaranth.hdl import Format, Fragment
from amaranth.lib import wiring

from cyscc.hw.accelerator import Accelerator
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

Locate = Callable[[Path], tuple[Path, Names | None] | None]
"""Function that maps a variable of a simulator's VCD file to its path and value names; None if it is not shown."""


@dataclass(frozen=True, kw_only=True)
class Signals:
    """The signals that an executor's waveforms may show.

    Parameters
    ----------
    locate : Locate
        Maps a variable to its path.
    models : mapping of str to (list of Path)
        Paths of signals by model; the simulator may have removed some of them.
    """

    locate: Locate
    models: Mapping[str, list[Path]]


_TAGS: dict[str, type[Enum]] = {"bfs": BfsTag, "intersection": IntersectionTag}
"""Tags of the kernels' reads, by the kernels' instance name without number."""

_Signals = dict[Path, tuple[Path, Names | None]]
"""Path and value names of each variable, by its path in the simulator's own file."""

_SUFFIX = re.compile(r"\$\d+$")
"""Suffix that Amaranth adds to a duplicate name; the other signal is mostly shown elsewhere."""


def _fields(place: Path, form: Any, suffix: str = "") -> Iterator[tuple[str, Path, Names | None]]:
    """Yield a signal and its fields: the simulators' suffix of its name, its path, and its value names."""
    yield suffix, place, form._variants if isinstance(form, Format.Enum) else None
    if isinstance(form, Format.Struct):
        for field, inner in form._fields.items():
            yield from _fields((*place, field), inner, f"{suffix}.{field}")
    elif isinstance(form, Format.Array):
        for index, inner in enumerate(form._fields):
            yield from _fields((*place, f"{place[-1]}_{index}"), inner, f"{suffix}[{index}]")


def _states(width: int, decoder: Callable[[int], str]) -> Names:
    """Return the names of a state machine's states."""
    names = {}
    for value in range(1 << width):
        with suppress(KeyError):
            names[value] = decoder(value).partition("/")[0]
    return names


def _signals(component: wiring.Component, ports: Any = ()) -> _Signals:
    """Return all signals of a component.

    A signal appears in its own component and in those that connect it; it is shown in the innermost.
    """
    design = Fragment.get(component, None).prepare(ports=ports)
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
    found: _Signals = {}
    for signal, scope, name in kept:
        shown = tuple(plain_scopes[scope[: depth + 1]] for depth in range(len(scope)))
        place = (*shown, plain_names[*scope, name])
        if signal._decoder is not None and not isinstance(signal._decoder, EnumMeta):
            fields: Iterable[tuple[str, Path, Names | None]] = [("", place, _states(len(signal), signal._decoder))]
        else:
            fields = _fields(place, signal._format)
        found.update({(*scope, name + suffix): (field, names) for suffix, field, names in fields})
    return found


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


def _kind(instance: str) -> str:
    """Return the name of an instance without its number."""
    return instance.rstrip("0123456789")


def _named(path: Path, kind: str, names: Names | None) -> Names | None:
    """Return the value names of a signal; those of a tag depend on the kind of kernel."""
    if names is None and path[-1] == "tag" and kind in _TAGS:
        return {tag.value: tag.name for tag in _TAGS[kind]}
    return names


@lru_cache(maxsize=2)
def model_signals(config: AcceleratorConfig) -> Signals:
    """Return the signals of the compiled executor's waveforms, which callers must not change.

    Its models are named ``engine<n>.<instance>``, and contain the Verilog module.
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
    tables = {kind: _signals(model, port_names(model)) for kind, model in models.items()}

    def locate(path: Path) -> tuple[Path, Names | None] | None:
        engine, _, instance = path[0].partition(".")
        kind, inner = _kind(instance), path[2:]
        if inner not in tables[kind]:
            return None
        shown, names = tables[kind][inner]
        return (engine, instance, *shown), _named(shown, kind, names)

    counts = {"bfs": config.bfs_kernels, "intersection": config.intersection_kernels}
    if config.exchange_kernels:
        counts["exchange"] = config.exchange_kernels
    single = [kind for kind in models if kind not in counts]
    instances = [*single, *(f"{kind}{number}" for kind, count in counts.items() for number in range(count))]
    return Signals(
        locate=locate,
        models={
            f"{engine}.{instance}": [(engine, instance, *shown) for shown, _ in tables[_kind(instance)].values()]
            for engine in (f"engine{number}" for number in range(config.engines))
            for instance in instances
        },
    )


def accelerator_signals(config: AcceleratorConfig) -> Signals:
    """Return the signals of waveforms from Amaranth's simulator, whose file has the accelerator as ``bench.top``."""
    table = _signals(Accelerator(config, instrument=True))

    def place(shown: Path) -> Path:
        return ("accelerator", *shown) if len(shown) == 1 else shown

    def locate(path: Path) -> tuple[Path, Names | None] | None:
        inner = path[2:]
        if inner not in table:
            return None
        shown, names = table[inner]
        return place(shown), names if len(shown) == 1 else _named(shown, _kind(shown[1]), names)

    return Signals(locate=locate, models={"accelerator": [place(shown) for shown, _ in table.values()]})
