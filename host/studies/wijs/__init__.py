"""Tables of Wijs, Katoen and Bošnački 2014: decompositions of the graphs of Markov decision processes."""

import argparse
from typing import TYPE_CHECKING

from host.options import UsageError, add_device, add_threads
from host.studies.reproduction import Reproduction

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["TABLE1", "TABLE2"]


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="models of some thousand states")
    add_device(parser)
    add_threads(parser, "fbt")


def _add_mec_options(parser: argparse.ArgumentParser) -> None:
    _add_options(parser)
    parser.add_argument(
        "--models",
        metavar="NAME[,...]",
        type=lambda text: tuple(text.split(",")),
        help="only these models of the table (default: all)",
    )


def _make_table1(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.report import Report
    from host.studies.wijs.document import table1_document
    from host.studies.wijs.markdown import table1_markdown
    from host.studies.wijs.plot import table1_figure

    document = table1_document(
        measurements,
        quick=arguments.quick,
        device=arguments.device,
        threads=arguments.threads,
        seed=arguments.seed,
    )
    return Report(document=document, markdown=table1_markdown(document), figure=table1_figure(document))


def _make_table2(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
    from host.studies.report import Report
    from host.studies.wijs.mec_document import table2_document
    from host.studies.wijs.mec_markdown import table2_markdown
    from host.studies.wijs.models import MODELS

    known = {chosen.name: chosen for chosen in MODELS}
    names = arguments.models or tuple(known)
    for name in names:
        if name not in known:
            raise UsageError(f"--models: unknown model {name!r}: there are {', '.join(known)}")
    document = table2_document(
        measurements,
        [known[name] for name in dict.fromkeys(names)],
        quick=arguments.quick,
        device=arguments.device,
        threads=arguments.threads,
        seed=arguments.seed,
    )
    return Report(document=document, markdown=table2_markdown(document))


_TEXT = "components of the graphs of Markov decision processes: Tarjan, and fbt in five configurations"
TABLE1 = Reproduction(
    "wijs-table1", "Table 1 of Wijs et al. 2014", _TEXT, options=_add_options, make=_make_table1, simulated=False
)

_MECS = "maximal end components of Markov decision processes: the basic algorithm, and the parallel one with fbt"
TABLE2 = Reproduction(
    "wijs-table2", "Table 2 of Wijs et al. 2014", _MECS, options=_add_mec_options, make=_make_table2, simulated=False
)
