"""Table 2: time and recursion depth beside Tarjan's algorithm."""

from collections.abc import Sequence
from typing import Any

from host.measuring.graphs import GraphSpec
from host.measuring.measurements import Measurements
from host.measuring.setting import cores, processor_name
from host.measuring.software import SoftwareRequest
from host.results.version import version
from host.studies.li.paper import TABLE2, row_of

__all__ = ["table2_document"]


def table2_document(measurements: Measurements, sizes: Sequence[int], *, seed: int) -> dict[str, Any]:
    """Measure the generated graphs of table 2 and return them as a JSON document.

    Its ``rows`` are ``kind``, ``degree`` and ``vertices`` of the graph; ``milliseconds`` and ``counts`` of ``li``,
    ``tarjan`` (milliseconds) and ``speed_up``; ``paper`` with the text's ``milliseconds``, ``depth`` and ``tarjan``.
    """
    graphs = [
        GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=seed)
        for kind, degree in TABLE2
        for vertices in sizes
    ]
    runs = {
        (graph, name): SoftwareRequest(graph=graph, algorithm=name, threads=threads)
        for graph in graphs
        for name, threads in (("li", cores()), ("tarjan", 1))
    }
    results = measurements.measure(runs.values())
    rows = []
    for graph in graphs:
        own, tarjan = (results[runs[graph, name]] for name in ("li", "tarjan"))
        paper = row_of(graph.kind, graph.degree, graph.vertices)
        rows.append(
            {
                "kind": graph.kind,
                "degree": graph.degree,
                "vertices": graph.vertices,
                "milliseconds": 1e3 * own["seconds"],
                "counts": own["counts"],
                "tarjan": 1e3 * tarjan["seconds"],
                "speed_up": tarjan["seconds"] / own["seconds"],
                "paper": None if paper is None else paper._asdict(),
                "verified": own["verified"],
            }
        )
    return {
        "figure": "li-table2",
        "version": version(),
        "seed": seed,
        "processor": processor_name(),
        "cores": cores(),
        "rows": rows,
    }
