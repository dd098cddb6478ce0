"""Figures 10 and 11: throughput of breadth-first search against the number of vertices."""

import argparse
from typing import TYPE_CHECKING

from host.studies.machines import SEARCH_MACHINES
from host.studies.options import add_graph_options, add_machines
from host.studies.study import Study

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["FIGURE10", "FIGURE11"]


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_graph_options(parser, vertices="2^16,2^17,2^18,2^19,2^20,2^21,2^22", degrees="8,16,32,64")
    add_machines(parser, SEARCH_MACHINES)


def _make(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.report import Report
    from host.studies.sweep import Sweep
    from host.studies.throughput.document import throughput_document
    from host.studies.throughput.markdown import throughput_markdown
    from host.studies.throughput.plot import throughput_figure

    document = throughput_document(measurements, Sweep.of(arguments))
    return Report(document=document, markdown=throughput_markdown(document), figure=throughput_figure(document))


_TEXT = "throughput against vertices"
FIGURE10 = Study("fig10", "Figure 10", f"{_TEXT}, uniform random graphs", options=_add_options, make=_make)
FIGURE11 = Study("fig11", "Figure 11", f"{_TEXT}, R-MAT graphs", options=_add_options, make=_make)
