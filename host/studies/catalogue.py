"""The tables and figures that `cyscc reproduce` offers: there before anything is imported that takes long."""

import argparse
from collections.abc import Callable
from typing import Any

from host.algorithms.names import KINDS
from host.options import add_device, add_threads, at_least
from host.studies.reproduction import (
    COMPONENT_MACHINES,
    SEARCH_MACHINES,
    Reproduction,
    add_graph_options,
    add_machines,
    add_vertices,
    late,
)

__all__ = ["REPRODUCTIONS"]


def _add_table1_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    add_vertices(group, default="2^20")
    group.add_argument("--quick", action="store_const", dest="vertices", const=(1 << 16,), help="2^16 vertices")
    add_machines(parser, SEARCH_MACHINES, default="published,hc2")


def _add_throughput_options(parser: argparse.ArgumentParser) -> None:
    add_graph_options(parser, vertices="2^16,2^17,2^18,2^19,2^20,2^21,2^22", degrees="8,16,32,64")
    add_machines(parser, SEARCH_MACHINES)


def _add_component_options(parser: argparse.ArgumentParser) -> None:
    add_graph_options(parser, vertices="2^16,2^18,2^20,2^22", degrees="16,32,64,128,256")
    add_machines(parser, COMPONENT_MACHINES)


def _add_size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--vertices",
        default=100_000,
        type=at_least(10, 1 << 25),
        metavar="N",
        help="vertices of the random graphs (default: 100000, the text's)",
    )


def _add_pivot_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quick",
        action="store_const",
        dest="most",
        const=10_000,
        default=1_000_000,
        help="graphs of up to 10,000 vertices only",
    )
    (pivots,) = KINDS["quach"].options
    parser.add_argument(
        "--pivots",
        type=at_least(pivots.least, pivots.most),
        default=10,
        metavar="M",
        help="pivots at a time (default: 10)",
    )
    add_device(parser)
    add_threads(parser, "the pivots' searches")


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="models of some thousand states")
    add_device(parser)
    add_threads(parser, "fbt")


def _add_mec_options(parser: argparse.ArgumentParser) -> None:
    _add_model_options(parser)
    parser.add_argument(
        "--models",
        metavar="NAME[,...]",
        type=lambda text: tuple(text.split(",")),
        help="only these models of the table (default: all)",
    )


_CELLS = "throughput of breadth-first search, 16 cells"
_VERTICES = "throughput against vertices"
_TIME = "time for strongly connected components against degree, by phase"
_SPEED_UP = "speed-up over sequential software against degree"
_THROUGHPUT = late("throughput:throughput_report")
_COMPONENTS = late("components:component_report")
_LI_DEGREE = "recursion depth against average degree, with and without Partition"
_LI_SOURCES = "recursion depth against the number of Partition's sources"
_LI_TIME = "time and recursion depth beside Tarjan's algorithm"
_LI_DEPTHS = late("li:depth_report")
_QUACH = "Quach et al. 2012: concurrent pivots against Tarjan's algorithm, G(n, m) graphs"
_WIJS = "components of the graphs of Markov decision processes: Tarjan, and fbt in five configurations"
_WIJS_MECS = "maximal end components of Markov decision processes: the basic algorithm, and the parallel one with fbt"


def _software(
    name: str, title: str, text: str, options: Callable[[argparse.ArgumentParser], None], make: Callable[..., Any]
) -> Reproduction:
    return Reproduction(name, title, text, options=options, make=make, simulated=False)


REPRODUCTIONS: tuple[Reproduction, ...] = (
    Reproduction("table1", "Table I", _CELLS, options=_add_table1_options, make=late("table1:table1_report")),
    Reproduction(
        "fig10", "Figure 10", f"{_VERTICES}, uniform random graphs", options=_add_throughput_options, make=_THROUGHPUT
    ),
    Reproduction("fig11", "Figure 11", f"{_VERTICES}, R-MAT graphs", options=_add_throughput_options, make=_THROUGHPUT),
    Reproduction("fig12", "Figure 12", _TIME, options=_add_component_options, make=_COMPONENTS),
    Reproduction("fig13", "Figure 13", _SPEED_UP, options=_add_component_options, make=_COMPONENTS),
    _software("li-fig2", "Figure 2 of Li et al. 2013", _LI_DEGREE, _add_size, _LI_DEPTHS),
    _software("li-fig3", "Figure 3 of Li et al. 2013", _LI_SOURCES, _add_size, _LI_DEPTHS),
    _software(
        "li-table2",
        "Table 2 of Li et al. 2013",
        _LI_TIME,
        lambda parser: add_vertices(parser, default="2^20"),
        late("li:time_report"),
    ),
    _software(
        "quach-table2", "Table 2 of Quach et al. 2012", _QUACH, _add_pivot_options, late("quach_table2:table2_report")
    ),
    _software("wijs-table1", "Table 1 of Wijs et al. 2014", _WIJS, _add_model_options, late("wijs:table1_report")),
    _software(
        "wijs-table2", "Table 2 of Wijs et al. 2014", _WIJS_MECS, _add_mec_options, late("wijs_mecs:table2_report")
    ),
)
