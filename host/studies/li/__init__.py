"""Figures 2 and 3 and table 2 of Li et al. 2013: recursion depth, and time beside Tarjan's algorithm."""

import argparse
from typing import TYPE_CHECKING

from host.options import at_least
from host.studies.reproduction import Reproduction, add_vertices

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["LI_FIGURE2", "LI_FIGURE3", "LI_TABLE2"]


def _add_size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--vertices",
        default=100_000,
        type=at_least(10, 1 << 25),
        metavar="N",
        help="vertices of the random graphs (default: 100000, the text's)",
    )


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    add_vertices(parser, default="2^20")


def _make_depths(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.li.depths import figure2_document, figure3_document
    from host.studies.li.markdown import depth_markdown
    from host.studies.li.plot import depth_figure
    from host.studies.report import Report

    make = figure2_document if arguments.figure == LI_FIGURE2.name else figure3_document
    document = make(measurements, arguments.vertices, seed=arguments.seed)
    return Report(document=document, markdown=depth_markdown(document), figure=depth_figure(document))


def _make_times(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.li.markdown import time_markdown
    from host.studies.li.plot import time_figure
    from host.studies.li.times import table2_document
    from host.studies.report import Report

    document = table2_document(measurements, arguments.vertices, seed=arguments.seed)
    return Report(document=document, markdown=time_markdown(document), figure=time_figure(document))


_DEGREE = "recursion depth against average degree, with and without Partition"
_SOURCES = "recursion depth against the number of Partition's sources"
_TIME = "time and recursion depth beside Tarjan's algorithm"
_OF = "of Li et al. 2013"
LI_FIGURE2 = Reproduction("li-fig2", f"Figure 2 {_OF}", _DEGREE, options=_add_size, make=_make_depths, simulated=False)
LI_FIGURE3 = Reproduction("li-fig3", f"Figure 3 {_OF}", _SOURCES, options=_add_size, make=_make_depths, simulated=False)
LI_TABLE2 = Reproduction(
    "li-table2", f"Table 2 {_OF}", _TIME, options=_add_table_options, make=_make_times, simulated=False
)
