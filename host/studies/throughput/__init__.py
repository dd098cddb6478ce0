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
    from host.studies.bounded import bounded
    from host.studies.report import Report
    from host.studies.throughput.document import throughput_document
    from host.studies.throughput.markdown import throughput_markdown
    from host.studies.throughput.plot import throughput_figure

    kept, left_out = bounded(arguments.vertices, arguments.degrees, most=arguments.max_edges)
    document = throughput_document(
        measurements,
        arguments.figure,
        kept,
        left_out,
        configs=arguments.configs,
        most=arguments.max_edges,
        memory=arguments.memory,
        seed=arguments.seed,
    )
    return Report(document=document, markdown=throughput_markdown(document), figure=throughput_figure(document))


FIGURE10 = Study(
    name="fig10",
    title="Figure 10",
    text="throughput against vertices, uniform random graphs",
    add_options=_add_options,
    make=_make,
)
"""The paper's figure 10."""

FIGURE11 = Study(
    name="fig11",
    title="Figure 11",
    text="throughput against vertices, R-MAT graphs",
    add_options=_add_options,
    make=_make,
)
"""The paper's figure 11."""
