"""Figures 12 and 13 for people: Markdown."""

from typing import Any

from host.measuring.graphs import size_text
from host.results.table_text import markdown_table
from host.studies.components.document import PHASES, SOFTWARE
from host.studies.grouping import grouped
from host.studies.sweep import left_out_text

__all__ = ["speed_up_markdown", "time_markdown"]


def _head(document: dict[str, Any], title: str) -> str:
    cores = document["cores"]
    return (
        f"# {document['figure'].replace('fig', 'Figure ')}: {title}\n\n"
        f"Uniform random graphs, seed {document['seed']}. Simulated: four AEs at {document['clock_hz'] / 1e6:g} MHz, "
        f"memory `{document['memory']}`.\n"
        f"Software: {document['processor']}, {cores} core{'s' if cores > 1 else ''}; the paper's was a Xeon X5670 with "
        "12 threads.\n"
        "The host's search for a start is real time on this processor, also beside the simulated machine.\n"
    )


def time_markdown(document: dict[str, Any]) -> str:
    """Return figure 12 as Markdown.

    Parameters
    ----------
    document : dict
        What `host.studies.components.document.component_document` returned.
    """
    head = ["degree", "series", *PHASES.values(), "total", "speed-up"]
    parts = [
        _head(document, "time for strongly connected components")
        + f"Times in milliseconds, without trimming.\n{left_out_text(document)}"
    ]
    for (vertices,), group in grouped(document["points"], "vertices").items():
        base = {point["degree"]: point["total"] for point in group if point["series"] == SOFTWARE}
        rows = [
            [
                str(point["degree"]),
                point["series"],
                *(f"{point['milliseconds'][phase]:.3f}" for phase in PHASES),
                f"{point['total']:.3f}",
                f"{base[point['degree']] / point['total']:.2f}",
            ]
            for point in group
        ]
        parts += [f"## {size_text(vertices)} vertices\n", markdown_table(head, rows)]
    return "\n".join(parts)


def speed_up_markdown(document: dict[str, Any]) -> str:
    """Return figure 13 as Markdown.

    Parameters
    ----------
    document : dict
        What `host.studies.components.document.component_document` returned.
    """
    points = document["points"]
    head = ["degree", "Kosaraju (ms)"]
    for (name,) in grouped(points, "series"):
        head += [f"{name} (ms)", "speed-up"]
    parts = [
        _head(document, "speed-up over sequential software")
        + f"`hong` ran on all cores. Trimming is in its time only, a part of its algorithm.\n{left_out_text(document)}"
    ]
    for (vertices,), panel in grouped(points, "vertices").items():
        rows = []
        for (degree,), group in grouped(panel, "degree").items():
            row = [str(degree), f"{group[0]['kosaraju']:.3f}"]
            for point in group:
                row += [f"{point['milliseconds']:.3f}", f"{point['speed_up']:.2f}"]
            rows.append(row)
        parts += [f"## {size_text(vertices)} vertices\n", markdown_table(head, rows)]
    return "\n".join(parts)
