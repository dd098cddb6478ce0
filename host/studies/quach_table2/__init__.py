"""Table 2 of Quach, Abuzaid and Chen 2012: concurrent pivots against Tarjan's algorithm on G(n, m) graphs."""

import argparse
from typing import TYPE_CHECKING

from host.algorithms.names import MOST_PIVOTS, PIVOTS
from host.options import add_device, add_threads, at_least
from host.studies.reproduction import Reproduction

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["QUACH_TABLE2"]


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quick",
        action="store_const",
        dest="most",
        const=10_000,
        default=1_000_000,
        help="graphs of up to 10,000 vertices only",
    )
    parser.add_argument(
        "--pivots",
        type=at_least(1, MOST_PIVOTS),
        default=PIVOTS,
        metavar="M",
        help=f"pivots at a time (default: {PIVOTS})",
    )
    add_device(parser)
    add_threads(parser, "the pivots' searches")


def _make(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.quach_table2.document import table2_document
    from host.studies.quach_table2.markdown import table2_markdown
    from host.studies.quach_table2.plot import table2_figure
    from host.studies.report import Report

    document = table2_document(
        measurements,
        most=arguments.most,
        pivots=arguments.pivots,
        device=arguments.device,
        threads=arguments.threads,
        seed=arguments.seed,
    )
    return Report(document=document, markdown=table2_markdown(document), figure=table2_figure(document))


_TEXT = "Quach et al. 2012: concurrent pivots against Tarjan's algorithm, G(n, m) graphs"
QUACH_TABLE2 = Reproduction(
    "quach-table2", "Table 2 of Quach et al. 2012", _TEXT, options=_add_options, make=_make, simulated=False
)
