"""What an Application Engine takes, by kinds of components and their parts."""

import re
from dataclasses import dataclass

from host.studies.synthesis.cells import Resources
from host.studies.synthesis.hierarchy import Hierarchy
from hw.verilog import KERNEL_NAMES

__all__ = ["Component", "Usage", "components", "parts", "queues"]


@dataclass(frozen=True, kw_only=True)
class Component:
    """A kind of component of an AE.

    Parameters
    ----------
    name : str
        Its name.
    count : int
        How many the AE has.
    each : Resources
        What one takes.
    parts : dict of str to Resources
        What one consists of, by names of instances, and ``itself`` for the cells between; empty if it has no parts.
    queues : Resources
        What the queues in one take, wherever they are.
    """

    name: str
    count: int
    each: Resources
    parts: dict[str, Resources]
    queues: Resources

    @property
    def resources(self) -> Resources:
        """What all of them take."""
        return self.each * self.count


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What an AE takes.

    Parameters
    ----------
    components : tuple of Component
        Its kinds of components, the largest first.
    total : Resources
        Their sum.
    """

    components: tuple[Component, ...]
    total: Resources


def queues(hierarchy: Hierarchy, module: str) -> Resources:
    """Return what the queues below a module take: the instances whose names end in ``fifo``."""
    total = Resources()
    for instance, part in hierarchy.children(module):
        total += hierarchy.total(part) if instance.endswith("fifo") else queues(hierarchy, part)
    return total


def parts(hierarchy: Hierarchy, module: str) -> dict[str, Resources]:
    """Return what a module consists of, in the order of names, then the cells between."""
    found = {instance: hierarchy.total(part) for instance, part in hierarchy.children(module)}
    return {**found, "itself": hierarchy.own(module)} if found else {}


def _unwrapped(hierarchy: Hierarchy, module: str) -> str:
    """Return the module inside one that only connects it."""
    while hierarchy.own(module) == Resources() and len(hierarchy.children(module)) == 1:
        [(_, module)] = hierarchy.children(module)
    return module


def components(hierarchy: Hierarchy, top: str) -> tuple[Component, ...]:
    """Return the kinds of components of an engine, the largest first.

    Instances whose names differ in a final number alone are of one kind if they also take the same.

    Parameters
    ----------
    hierarchy : Hierarchy
        Engine and kernels.
    top : str
        Module of the engine.
    """
    groups: dict[tuple[str, Resources], list[str]] = {}
    for instance, wrapper in hierarchy.children(top):
        module = _unwrapped(hierarchy, wrapper)
        name = module if module in KERNEL_NAMES.values() else re.sub(r"\d+$", "", instance)
        groups.setdefault((name, hierarchy.total(module)), []).append(module)
    found = [
        Component(
            name=name,
            count=len(modules),
            each=each,
            parts=parts(hierarchy, modules[0]),
            queues=queues(hierarchy, modules[0]),
        )
        for (name, each), modules in groups.items()
    ]
    if hierarchy.own(top) != Resources():
        found.append(Component(name="between them", count=1, each=hierarchy.own(top), parts={}, queues=Resources()))
    return tuple(sorted(found, key=lambda component: (-component.resources.luts, component.name)))
