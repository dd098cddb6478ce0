"""Every software algorithm in every variant, the checks that hold for each of its results, and graphs of many rings."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from cyscc.host.baselines.algorithms import AS_PRINTED, KINDS, MOST_PIVOTS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.devices.steps import Device
from cyscc.host.baselines.software.decomposition import Decomposition, SoftwareSetting
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.reference import canonical, check_components
from tests.system.graphs import graph_of

Options = Mapping[str, Any]

PRINTED = {AS_PRINTED: True}

CONFIGURATIONS: dict[str, Options] = {
    "F0,1": {},
    "F0,7": {"segment": 7},
    "F3,1": {"cached": 3, "segment": 1},
    "F3,7": {"cached": 3, "segment": 7},
    "F0,1-nh": {"no-hybrid": True},
    "F3,2-nh": {"cached": 3, "segment": 2, "no-hybrid": True},
    "F1,0": {"cached": 1},
}
"""Of fbt, as the paper names them, and others."""

VARIANTS: dict[str, dict[str, Options]] = {
    "li": {"": {}, " no sources": {"sources": 0}, " 3 sources": {"sources": 3}},
    "quach": {"": {}, " 1 pivot": {"pivots": 1}, " 2 pivots": {"pivots": 2}, " all pivots": {"pivots": MOST_PIVOTS}},
    "fbt": {f" {name}": options for name, options in CONFIGURATIONS.items()},
}

CASES: dict[str, tuple[str, Options]] = {
    f"{name}{variant}{end}": (name, {**options, **more})
    for name, kind in KINDS.items()
    for variant, options in VARIANTS.get(name, {"": {}}).items()
    for end, more in (("", {}), (" as printed", PRINTED))
    if not more or AS_PRINTED in kind.options
}
"""Name of the algorithm, and its options."""


def _check_li(found: Decomposition, components: int, _: Device) -> None:
    # Each component takes a number for itself, and lets Partition take one more.
    assert components < found.counts["subgraphs"] <= 2 * components + 1


def _check_quach(found: Decomposition, components: int, device: Device) -> None:
    counts = found.counts
    # A pivot in a component that another one has found makes none.
    assert counts["pruned"] + counts["components_searched"] == components
    assert counts["edges_pruning"] <= counts["edges"]
    # Threads that race may expand a vertex twice for one search.
    assert device.threads > 1 or counts["edges"] <= counts["edges_by_pivot"]
    assert 0 < counts["prune_rounds"] <= counts["passes"]


def _check_fbt(found: Decomposition, _: int, __: Device) -> None:
    # A pivot is of its own component.
    assert np.array_equal(found.labels[found.labels], found.labels)


_CHECKS = {"li": _check_li, "quach": _check_quach, "fbt": _check_fbt}


def decompose(
    algorithm: str,
    graph: Graph,
    device: Device | None = None,
    options: Options | None = None,
    *,
    seed: int = 1,
    name: str = "",
) -> Decomposition:
    """Return the result of an algorithm after its checks; on one thread of the processor by default."""
    if device is None:
        with open_device("cpu") as opened:
            return decompose(algorithm, graph, opened, options, seed=seed, name=name)
    setting = SoftwareSetting(device=device, seed=seed, options=options or {})
    found: Decomposition = KINDS[algorithm].load()(graph, graph.transpose(), setting)
    assert check_components(canonical(found.labels), graph) is None, name
    if algorithm in _CHECKS:
        _CHECKS[algorithm](found, np.unique(found.labels).size, device)
    return found


def cycles(*cycles: list[int]) -> list[tuple[int, int]]:
    return [edge for cycle in cycles for edge in pairwise([*cycle, cycle[0]])]


def rings(count: int, links: Any, *, size: int = 3) -> Graph:
    """Return a graph of cycles, with edges from the last vertex of some to the first one of others."""
    first = size * np.arange(count)
    vertices = np.arange(size * count)
    following = np.where(vertices % size == size - 1, vertices - size + 1, vertices + 1)
    links = np.array(links, np.int64).reshape(-1, 2)
    sources = np.concatenate([vertices, first[links[:, 0]] + size - 1])
    targets = np.concatenate([following, first[links[:, 1]]])
    return Graph.from_edges(size * count, sources.astype(np.uint32), targets.astype(np.uint32))


def chain_of_rings(count: int, *, size: int = 3) -> Graph:
    numbers = np.arange(count)
    return rings(count, np.stack([numbers[:-1], numbers[1:]], 1), size=size)


def acyclic_rings(count: int, degree: int) -> Graph:
    """Return cycles of three that lead into each other at random, mostly with no way from one to another."""
    links = np.sort(np.random.default_rng(1).integers(0, count, (count * degree, 2)), axis=1)
    return rings(count, links[links[:, 0] < links[:, 1]])


def lattice(side: int) -> Graph:
    """Return a square lattice, each of its edges in a direction drawn at random."""
    numbers = np.arange(side * side, dtype=np.uint32).reshape(side, side)
    pairs = [(numbers[:, :-1], numbers[:, 1:]), (numbers[:-1], numbers[1:])]
    ends = np.concatenate([np.stack([u.ravel(), v.ravel()]) for u, v in pairs], axis=1)
    turned = np.random.default_rng(2).random(ends.shape[1]) < 0.5
    return Graph.from_edges(side * side, np.where(turned, *ends), np.where(turned, *ends[::-1]))


def layered(levels: int, width: int, seed: int) -> Graph:
    """Return a hub that leads to levels of cycles of two or three states, each of which leads to some of the next."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(2, 4, levels * width)
    firsts = 1 + np.cumsum(sizes) - sizes
    edges = [(0, int(first)) for first in firsts[:width]]
    for place, (first, size) in enumerate(zip(firsts.tolist(), sizes.tolist(), strict=True)):
        edges += cycles(list(range(first, first + size)))
        below = firsts[(place // width + 1) * width :][:width]
        edges += [(first + 1, int(below[chosen])) for chosen in generator.integers(0, width, 2) if below.size]
    names = generator.permutation(1 + int(sizes.sum())).tolist()
    return graph_of(len(names), [(names[source], names[target]) for source, target in edges])
