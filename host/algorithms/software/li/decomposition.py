"""The algorithm as a whole (algorithm 2): Partition and single sources in turn until every vertex has a component."""

import numpy as np

from host.algorithms.software.decomposition import Decomposition, Setting
from host.algorithms.software.li.numbering import Numbering
from host.algorithms.software.li.search import Searches
from host.algorithms.software.li.sources import source_count
from host.devices.graphs import upload
from host.errors import InputError
from host.graph.csr import Graph

__all__ = ["li"]

_MOST = 2**30 - 1
"""Vertices: numbers of subgraphs, up to twice as many, are 32-bit integers with a sign."""


def li(graph: Graph, transpose: Graph, setting: Setting) -> Decomposition:
    """Find the components of a graph as Li, Zhu, Cong and Yang do (Journal of Systems Architecture, 2013).

    Parameters
    ----------
    graph, transpose : Graph
        The graph and its transpose.
    setting : Setting
        How it runs. Its option ``sources`` is the text's k, the vertices that Partition draws; with 0 there is none.

    Returns
    -------
    Decomposition
        Counts: ``depth``, Partition and single sources a level each; ``queries``, searches of a subgraph, one for each
        that Partition divides and two for each source; ``edges``; ``passes``, levels of searches and elections;
        ``subgraphs``, numbers given.

    Raises
    ------
    InputError
        The graph is too large.
    """
    vertices = graph.vertices
    if vertices > _MOST:
        raise InputError(f"li takes at most {_MOST} vertices, not {vertices}")
    device = setting.device
    forward, backward = upload(device, graph), upload(device, transpose)
    numbering = Numbering(device, vertices)
    searches = Searches(device, numbering, vertices)
    # Nobody draws more vertices than there are.
    drawn = min(vertices, setting.options.get("sources", source_count(vertices, graph.edges)))
    # The text has a number for each vertex; those beyond the first k name no source, and are left out.
    numbers = device.array(np.random.default_rng(setting.seed).integers(0, 1 << 32, drawn))
    depth = queries = 0
    while numbering.remaining:
        if drawn:
            subgraphs, sources = numbering.draw(numbers, drawn)
            searches.forward(forward, sources)
            depth += 1
            queries += subgraphs
        sources = numbering.select()
        searches.forward(forward, sources)
        numbering.remove(searches.backward(backward, sources))
        depth += 1
        queries += 2 * sources
        setting.watch(vertices - numbering.remaining, vertices)
    return Decomposition(
        labels=device.read(numbering.labels).astype(np.int64),
        counts={
            "depth": depth,
            "queries": queries,
            "edges": searches.edges,
            "passes": searches.levels + depth,
            "subgraphs": numbering.used,
        },
    )
