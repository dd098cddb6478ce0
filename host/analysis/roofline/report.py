"""The roofline for people and for programs: its titles and colours, its table and its document."""

from collections.abc import Callable
from typing import Any

from host.analysis.roofline.analysis import Roofline
from host.results.table_text import plain_table
from host.runs.results import Setting

__all__ = [
    "CROSSBAR",
    "CROSSBAR_COLOUR",
    "LIMIT_COLOURS",
    "limit_title",
    "roofline_document",
    "roofline_table",
]

LIMIT_COLOURS = {
    "ports": "#0072B2",
    "imbalance": "#56B4E9",
    "links": "#009E73",
    "busiest_link": "#B8E3D2",
    "channels": "#8C6D31",
    "busiest_channel": "#D9C08A",
    "rows": "#5E3C99",
    "refresh": "#B2ABD2",
    "banks": "#E69F00",
    "busiest_bank": "#D55E00",
    "outstanding": "#CC79A7",
    "ring": "#F0E442",
    "overhead": "#999999",
}
"""Of each limit: those of Okabe and Ito, which colour-blind readers can tell apart. Banks with rows have two browns and
two violets besides."""

CROSSBAR_COLOUR = "#7A2500"
"""Of the crossbar's queues."""

_TITLES = {
    "busiest_link": "busiest link",
    "channels": "pseudo-channels",
    "busiest_channel": "busiest pseudo-channel",
    "rows": "opening rows",
    "refresh": "with refresh",
    "busiest_bank": "busiest bank",
    "outstanding": "outstanding reads",
    "overhead": "level overhead",
}

CROSSBAR = "crossbar queues"
"""What people call the cycles that saturated first-in first-out queues at the crossbar take."""


def limit_title(name: str) -> str:
    """Return what people call a limit."""
    return _TITLES.get(name, name)


def roofline_table(roofline: Roofline, setting: Setting) -> str:
    """Return a block of lines, one for each limit: what it allows, and in how many levels it is the tightest."""
    edges, taken = roofline.total_edges, roofline.total_cycles
    tightest = roofline.tightest_levels

    def row(title: str, cycles: int, levels: int | None = None) -> tuple[str, ...]:
        gteps = f"{setting.gteps(edges, cycles):.3f}" if cycles else "-"
        where = f"{levels:,} level{'s' if levels != 1 else ''}" if levels else ""
        return title, f"{cycles:,}", gteps, f"{cycles / taken:.1%}", where

    rows = [
        *(row(limit_title(name), cycles, tightest[name]) for name, cycles in roofline.total_limits.items()),
        row("all of them", roofline.roof),
    ]
    if (crossbar := roofline.total_crossbar) is not None:
        rows += [row(CROSSBAR, crossbar, roofline.crossbar_levels), row("all with these", roofline.expected)]
    rows.append(row("reached", taken))
    return plain_table(rows, head=("limit", "cycles", "GTEPS", "of reached", "tightest in"))


def roofline_document(roofline: Roofline, setting: Setting) -> dict[str, Any]:
    """Return the roofline as part of a JSON document."""
    names = roofline.bounds.names
    edges = roofline.total_edges
    tightest = roofline.tightest_levels

    def gteps(cycles: int) -> float | None:
        return setting.gteps(edges, cycles) if cycles else None

    levels = len(roofline.cycles)
    crossbars = [{}] * levels if roofline.crossbar is None else [{"crossbar": c} for c in roofline.crossbar.tolist()]
    columns = (roofline.edges, roofline.requests, roofline.cycles, roofline.limits, roofline.tightest)
    return {
        "requests": roofline.total_requests,
        "intensity": edges / roofline.total_requests,
        "limits": {
            name: {"cycles": cycles, "gteps": gteps(cycles), "tightest_levels": tightest[name]}
            for name, cycles in roofline.total_limits.items()
        },
        "roof": {"cycles": roofline.roof, "gteps": gteps(roofline.roof)},
        "reached": {"cycles": roofline.total_cycles, "gteps": gteps(roofline.total_cycles)},
        "efficiency": roofline.efficiency,
        "levels": [
            {
                "edges": level_edges,
                "requests": requests,
                "cycles": cycles,
                "limits": dict(zip(names, limits, strict=True)),
                "tightest": names[largest],
                **crossbar,
            }
            for level_edges, requests, cycles, limits, largest, crossbar in zip(
                *(column.tolist() for column in columns), crossbars, strict=True
            )
        ],
        **_crossbar(roofline, gteps),
    }


def _crossbar(roofline: Roofline, gteps: Callable[[int], float | None]) -> dict[str, Any]:
    """Return what is said of the crossbar; nothing where there is none."""
    if (cycles := roofline.total_crossbar) is None:
        return {}
    return {
        "crossbar": {
            "cycles": cycles,
            "gteps": gteps(cycles),
            "share": cycles / roofline.total_cycles,
            "tightest_levels": roofline.crossbar_levels,
        },
        "expected": {"cycles": roofline.expected, "gteps": gteps(roofline.expected)},
    }
