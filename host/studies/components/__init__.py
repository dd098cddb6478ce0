"""Figures 12 and 13: time for the strongly connected components, and speed-up over sequential software."""

import argparse
from typing import TYPE_CHECKING

from host.studies.machines import COMPONENT_MACHINES
from host.studies.options import add_graph_options, add_machines
from host.studies.study import Study

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["FIGURE12", "FIGURE13"]


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_graph_options(parser, vertices="2^16,2^18,2^20,2^22", degrees="16,32,64,128,256")
    add_machines(parser, COMPONENT_MACHINES)


def _make(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.bounded import bounded
    from host.studies.components.document import component_document
    from host.studies.components.markdown import speed_up_markdown, time_markdown
    from host.studies.components.plot import speed_up_figure, time_figure
    from host.studies.report import Report

    kept, left_out = bounded(arguments.vertices, arguments.degrees, most=arguments.max_edges)
    document = component_document(
        measurements,
        arguments.figure,
        kept,
        left_out,
        configs=arguments.configs,
        most=arguments.max_edges,
        memory=arguments.memory,
        seed=arguments.seed,
    )
    if arguments.figure == FIGURE13.name:
        return Report(document=document, markdown=speed_up_markdown(document), figure=speed_up_figure(document))
    return Report(document=document, markdown=time_markdown(document), figure=time_figure(document))


FIGURE12 = Study(
    name="fig12",
    title="Figure 12",
    text="time for strongly connected components against degree, by phase",
    add_options=_add_options,
    make=_make,
)
"""The paper's figure 12."""

FIGURE13 = Study(
    name="fig13",
    title="Figure 13",
    text="speed-up over sequential software against degree",
    add_options=_add_options,
    make=_make,
)
"""The paper's figure 13."""
