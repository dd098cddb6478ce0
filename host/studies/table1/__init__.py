"""Table I: throughput of breadth-first search."""

import argparse
from typing import TYPE_CHECKING

from host.studies.machines import SEARCH_MACHINES
from host.studies.options import add_machines, add_vertices
from host.studies.study import Study

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["TABLE1"]


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    add_vertices(group, default="2^20")
    group.add_argument("--quick", action="store_const", dest="vertices", const=(1 << 16,), help="2^16 vertices")
    add_machines(parser, SEARCH_MACHINES, default="published,hc2")


def _make(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.report import Report
    from host.studies.table1.document import table1_document
    from host.studies.table1.markdown import table1_markdown
    from host.studies.table1.plot import table1_figure

    document = table1_document(
        measurements, arguments.configs, arguments.vertices, memory=arguments.memory, seed=arguments.seed
    )
    return Report(document=document, markdown=table1_markdown(document), figure=table1_figure(document))


_TEXT = "throughput of breadth-first search, 16 cells"
TABLE1 = Study("table1", "Table I", _TEXT, options=_add_options, make=_make)
