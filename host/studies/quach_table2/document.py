"""Table 2 of Quach et al. 2012, measured: a JSON document."""

from typing import Any

from host.measuring.graphs import GraphSpec
from host.measuring.measurements import Measurements
from host.measuring.setting import processor_name
from host.measuring.software import SoftwareRequest
from host.results.version import version
from host.studies.quach_table2.published import TABLE2

__all__ = ["table2_document"]


def table2_document(
    measurements: Measurements, *, most: int, pivots: int, device: str, threads: int, seed: int
) -> dict[str, Any]:
    """Measure the table's graphs, and return what was found.

    Each of ``rows`` has ``vertices``, ``edges``; ``tarjan`` and ``quach`` (milliseconds), ``ratio`` (the first by the
    second); ``counts`` of the second; ``paper``: the same times, the ratio, and ``prune`` as printed.

    Parameters
    ----------
    measurements : Measurements
        What measures.
    most : int
        Vertices of the largest graphs.
    pivots : int
        Pivots at a time.
    device : str
        Where the searches run; Tarjan's algorithm runs on the processor.
    threads : int
        Threads of the processor that they may use; Tarjan's algorithm uses one.
    seed : int
        Seed of the graphs.

    Raises
    ------
    InputError, SimulationError
        A measurement failed.
    """
    used = threads if device == "cpu" else 1
    requests = {}
    for row in TABLE2:
        if row.vertices > most:
            continue
        graph = GraphSpec(kind="gnm", vertices=row.vertices, exact_edges=row.edges, seed=seed)
        requests[row] = (
            SoftwareRequest(graph=graph, algorithm="tarjan", threads=1),
            SoftwareRequest(graph=graph, algorithm="quach", threads=used, device=device, options=(("pivots", pivots),)),
        )
    results = measurements.measure(request for pair in requests.values() for request in pair)
    rows = []
    for row, (tarjan, quach) in requests.items():
        base, time = (1e3 * results[request]["seconds"] for request in (tarjan, quach))
        rows.append(
            {
                "vertices": row.vertices,
                "edges": row.edges,
                "tarjan": base,
                "quach": time,
                "ratio": base / time,
                "counts": results[quach]["counts"],
                "paper": {"tarjan": row.tarjan, "quach": row.quach, "ratio": row.ratio, "prune": row.prune},
            }
        )
    return {
        "figure": "quach-table2",
        "version": version(),
        "processor": processor_name(),
        "device": device,
        "threads": used,
        "pivots": pivots,
        "seed": seed,
        "rows": rows,
    }
