"""Figures 10 and 11: throughput of breadth-first search against the number of vertices."""

import itertools
from collections.abc import Sequence
from typing import Any

from host.errors import InputError
from host.measuring.graphs import SOURCE_RULE, GraphSpec, size_text
from host.studies.reproduction.machines import preset_of
from host.studies.reproduction.markdown import table
from host.studies.reproduction.measure import BfsRequest
from host.studies.reproduction.paper import ENGINES, TABLE1_VERTICES
from host.studies.reproduction.table1 import CellKey

__all__ = ["KIND_OF", "bounded", "left_out_text", "throughput_document", "throughput_markdown", "throughput_requests"]

KIND_OF = {"fig10": "random", "fig11": "rmat"}
"""Kind of graph of each figure."""

_KIND_TEXT = {"random": "uniform random", "rmat": "R-MAT"}


def bounded(
    vertices: Sequence[int], degrees: Sequence[int], *, most: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the pairs of degree and vertices of at most `most` edges, and those of more.

    Raises
    ------
    InputError
        None is left.
    """
    pairs = list(itertools.product(degrees, vertices))
    kept = [pair for pair in pairs if pair[0] * pair[1] <= most]
    if not kept:
        least = min(degree * size for degree, size in pairs)
        raise InputError(f"no graph has at most {most} edges: the smallest one has {least} (--max-edges)")
    return kept, [pair for pair in pairs if pair not in kept]


def throughput_requests(
    pairs: Sequence[tuple[int, int]], *, kind: str, configs: Sequence[str], memory: str, seed: int
) -> dict[CellKey, BfsRequest]:
    """Return the measurement of each point.

    Parameters
    ----------
    pairs : sequence of (int, int)
        Degree and vertices of each graph.
    kind : str
        Kind of graph.
    configs : sequence of str
        Names of `host.studies.reproduction.machines.SEARCH_MACHINES`.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    """
    return {
        (config, vertices, kind, degree, engines): BfsRequest(
            graph=GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=seed),
            preset=preset_of(config, engines),
            memory=memory,
        )
        for config in configs
        for degree, vertices in pairs
        for engines in ENGINES
    }


def throughput_document(
    points: Sequence[dict[str, Any]],
    left_out: Sequence[tuple[int, int]],
    *,
    figure: str,
    most: int,
    memory: str,
    seed: int,
    clock: float,
    version: str,
) -> dict[str, Any]:
    """Return the figure as a JSON document.

    Parameters
    ----------
    points : sequence of dict
        As of `table1.cells`; their ``paper`` is table I's average, whatever their number of vertices.
    left_out : sequence of (int, int)
        Degree and vertices of the graphs that were too large.
    figure : str
        Its name.
    most : int
        Edges of the largest graph allowed.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    clock : float
        Clock of the machine in hertz.
    version : str
        Version of the program.
    """
    return {
        "figure": figure,
        "version": version,
        "memory": memory,
        "clock_hz": clock,
        "seed": seed,
        "kind": KIND_OF[figure],
        "max_edges": most,
        "paper_average_over_vertices": list(TABLE1_VERTICES),
        "points": list(points),
        "left_out": [{"degree": degree, "vertices": vertices} for degree, vertices in left_out],
    }


def left_out_text(document: dict[str, Any]) -> str:
    """Return a line that names the graphs left out, empty when there are none."""
    names = [f"degree {each['degree']} with {size_text(each['vertices'])}" for each in document["left_out"]]
    if not names:
        return ""
    return f"\nLeft out, more than {size_text(document['max_edges'])} edges: {', '.join(names)} vertices.\n"


def throughput_markdown(document: dict[str, Any]) -> str:
    """Return the points as Markdown, a table for each configuration and degree.

    Parameters
    ----------
    document : dict
        What `throughput_document` returned.
    """
    points = document["points"]
    parts = [
        f"# {document['figure'].replace('fig', 'Figure ')}: breadth-first search of {_KIND_TEXT[document['kind']]} "
        "graphs\n\n"
        "GTEPS: 10⁹ traversed edges a simulated second. The paper's figures are table I's averages over 2^20 to 2^23\n"
        f"vertices. Memory `{document['memory']}`, clock {document['clock_hz'] / 1e6:g} MHz, seed {document['seed']}; "
        f"searches start at the\n{SOURCE_RULE}.\n{left_out_text(document)}"
    ]
    head = ["vertices"]
    for engines in ENGINES:
        head += [f"{engines} AE{'s' if engines > 1 else ''}", "paper"]
    head.append("Betkaoui")
    for config, degree in dict.fromkeys((point["config"], point["degree"]) for point in points):
        group = [point for point in points if (point["config"], point["degree"]) == (config, degree)]
        rows = []
        for vertices in dict.fromkeys(point["vertices"] for point in group):
            row = [size_text(vertices)]
            for engines in ENGINES:
                point = next(each for each in group if (each["vertices"], each["engines"]) == (vertices, engines))
                row += [f"{point['simulated']:.3f}", _known(point["paper"])]
            rows.append([*row, _known(point["betkaoui"])])
        parts += [f"## `{config}`, degree {degree}\n", table(head, rows)]
    return "\n".join(parts)


def _known(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
