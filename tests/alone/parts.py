"""All components of two machines, and of kernels with other options, each set of parameters once."""

from collections.abc import Iterator
from typing import Any

from amaranth.hdl import Fragment, Shape
from amaranth.lib import wiring

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.config import PRESETS
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.verilog import port_names
from tests.system.pinned import WatchedEngine

_HARDWARE = "cyscc.hw."
_INNER = ("_Component", "_MustUse", "_kernels", "_make_")
"""Attributes that are no parameters."""
_CONFIG = PRESETS["test"]
_FAST = PRESETS["fast-test"]
_PUBLISHED = _CONFIG.replace(issue_interval=2, blocking_reservation=True)
_FETCHING = _PUBLISHED.replace(queued_requests=4)
_SEARCHING = _CONFIG.replace(bfs_only=True, remembered_ids=8)
# A reader of pairs with as many places as in its proofs.
_LEAN = _CONFIG.replace(pair_reads=True, lean_visits=True, neighbour_depth=4)
# Larger banks than those of the preset, which have one row in use: as large as those of the proofs.
_EXCHANGING = _CONFIG.replace(visited_filter=1024, edge_chunk=4)


def optional_kernels() -> list[wiring.Component]:
    """Return kernels with options that the machine of the preset ``test`` does without.

    Options that the preset ``fast-test`` has are here in other combinations.
    """
    return [
        BfsKernel(_PUBLISHED, instrument=True),
        BfsKernel(_SEARCHING, instrument=True),
        IntersectionKernel(_PUBLISHED, instrument=True),
        BfsKernel(_FETCHING, instrument=True),
        BfsKernel(_LEAN, instrument=True),
        BfsKernel(_EXCHANGING, instrument=True),
    ]


def file_of(component: wiring.Component) -> str:
    """Return the file of the hardware that describes a component, ``bfs/visitor``, or nothing."""
    modules = [kind.__module__ for kind in type(component).__mro__]
    ours = [module for module in modules if module.startswith(_HARDWARE)]
    return ours[0].removeprefix(_HARDWARE).replace(".", "/") if ours else ""


def component_of(fragment: Fragment) -> Any:
    """Return the component of the hardware that a fragment is, or None: a part of Amaranth's library."""
    origin = fragment.origins[0] if fragment.origins else None
    return origin if isinstance(origin, wiring.Component) and file_of(origin) else None


def same_part(one: wiring.Component, other: wiring.Component) -> bool:
    """Return whether two components are the same hardware: of one class, with equal parameters and ports."""
    return type(one) is type(other) and _parameters(one) == _parameters(other)


def all_parts() -> dict[str, Any]:
    """Return the components by their file, with a number where there are several: ``queue 2``."""
    parts: dict[str, Any] = {}
    for root in (WatchedEngine(_CONFIG), *optional_kernels(), WatchedEngine(_FAST)):
        for component in _walk(Fragment.get(root, None)):
            if any(same_part(component, known) for known in parts.values()):
                continue
            file = file_of(component)
            alike = sum(file_of(known) == file for known in parts.values())
            parts[f"{file} {alike}" if alike else file] = component
    return parts


def _walk(fragment: Fragment) -> Iterator[Any]:
    component = component_of(fragment)
    if component is not None:
        yield component
    for inner, _, _ in fragment.subfragments:
        yield from _walk(inner)


def _parameters(component: wiring.Component) -> tuple[object, ...]:
    """Return what a component was made with, and its ports."""
    given = {
        name: Shape.cast(value) if name == "_shape" else value
        for name, value in vars(component).items()
        if name.startswith("_") and not name.startswith(_INNER)
    }
    ports = {name: (len(signal), way) for name, (signal, way) in port_names(component).items()}
    return given, ports
