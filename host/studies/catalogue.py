"""The tables and figures that `cyscc reproduce` offers: there before anything is imported that takes long."""

import argparse
from typing import TYPE_CHECKING

from host.studies import li, quach_table2, wijs
from host.studies.reproduction import (
    COMPONENT_MACHINES,
    SEARCH_MACHINES,
    Reproduction,
    add_graph_options,
    add_machines,
    add_vertices,
)

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["REPRODUCTIONS"]


def _add_table1_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    add_vertices(group, default="2^20")
    group.add_argument("--quick", action="store_const", dest="vertices", const=(1 << 16,), help="2^16 vertices")
    add_machines(parser, SEARCH_MACHINES, default="published,hc2")


def _make_table1(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.table1 import table1_report

    return table1_report(measurements, arguments)


def _add_throughput_options(parser: argparse.ArgumentParser) -> None:
    add_graph_options(parser, vertices="2^16,2^17,2^18,2^19,2^20,2^21,2^22", degrees="8,16,32,64")
    add_machines(parser, SEARCH_MACHINES)


def _make_throughput(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.throughput import throughput_report

    return throughput_report(measurements, arguments)


def _add_component_options(parser: argparse.ArgumentParser) -> None:
    add_graph_options(parser, vertices="2^16,2^18,2^20,2^22", degrees="16,32,64,128,256")
    add_machines(parser, COMPONENT_MACHINES)


def _make_components(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.components import component_report

    return component_report(measurements, arguments)


_CELLS = "throughput of breadth-first search, 16 cells"
_VERTICES = "throughput against vertices"
_TIME = "time for strongly connected components against degree, by phase"
_SPEED_UP = "speed-up over sequential software against degree"

REPRODUCTIONS: tuple[Reproduction, ...] = (
    Reproduction("table1", "Table I", _CELLS, options=_add_table1_options, make=_make_table1),
    Reproduction(
        "fig10",
        "Figure 10",
        f"{_VERTICES}, uniform random graphs",
        options=_add_throughput_options,
        make=_make_throughput,
    ),
    Reproduction(
        "fig11", "Figure 11", f"{_VERTICES}, R-MAT graphs", options=_add_throughput_options, make=_make_throughput
    ),
    Reproduction("fig12", "Figure 12", _TIME, options=_add_component_options, make=_make_components),
    Reproduction("fig13", "Figure 13", _SPEED_UP, options=_add_component_options, make=_make_components),
    li.LI_FIGURE2,
    li.LI_FIGURE3,
    li.LI_TABLE2,
    quach_table2.QUACH_TABLE2,
    wijs.TABLE1,
    wijs.TABLE2,
)
