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
    from host.studies.components.document import component_document
    from host.studies.components.markdown import speed_up_markdown, time_markdown
    from host.studies.components.plot import speed_up_figure, time_figure
    from host.studies.report import Report
    from host.studies.sweep import Sweep

    document = component_document(measurements, Sweep.of(arguments))
    if arguments.figure == FIGURE13.name:
        return Report(document=document, markdown=speed_up_markdown(document), figure=speed_up_figure(document))
    return Report(document=document, markdown=time_markdown(document), figure=time_figure(document))


_TIME = "time for strongly connected components against degree, by phase"
_SPEED_UP = "speed-up over sequential software against degree"
FIGURE12 = Study("fig12", "Figure 12", _TIME, options=_add_options, make=_make)
FIGURE13 = Study("fig13", "Figure 13", _SPEED_UP, options=_add_options, make=_make)
