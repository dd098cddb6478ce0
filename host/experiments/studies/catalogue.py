"""The catalogue of tables and figures for `cyscc reproduce`, defined without slow imports."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.baselines.algorithms import MOST_PIVOTS, PIVOTS
from cyscc.host.experiments.studies.paper import COMPONENT_MACHINES, SEARCH_MACHINES
from cyscc.host.specification.options import add_shared, add_threads, at_least, listed, one_of
from cyscc.sim.configuration import PRESETS

if TYPE_CHECKING:
    from cyscc.host.experiments.studies.study import Study

__all__ = ["REPRODUCTIONS", "Reproduction"]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure that can be reproduced; its study is imported only when it runs.

    Parameters
    ----------
    name : str
        Name on the command line, and of its files.
    title : str
        Its title in the paper.
    text : str
        Its contents.
    options : callable
        Adds its command-line options to a parser.
    study : str
        Module in `cyscc.host.experiments.studies` and class of its `Study`: ``module:Class``.
    simulated : bool
        Whether it simulates a machine, so that the memory is an option.
    generated : bool
        Whether its graphs are generated, so that their seed is an option.
    """

    name: str
    title: str
    text: str
    options: Callable[[argparse.ArgumentParser], None]
    study: str
    simulated: bool = False
    generated: bool = True

    def asked(self, given: Mapping[str, Any]) -> "Study":
        """Return the study, with those of the given values that are its options."""
        module, name = self.study.split(":")
        kind = getattr(import_module(f"cyscc.host.experiments.studies.{module}"), name)
        study: Study = kind(**{each.name: given[each.name] for each in fields(kind) if each.name in given})
        return study


_LEAST, _MOST = 1 << 4, 1 << 25


def _power(text: str) -> int:
    """Return a number of vertices from a text such as 2^16.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is no number, or the number is no power of two or out of range.
    """
    value = at_least(1)(text)
    if value & (value - 1) or not _LEAST <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"must be powers of two from 2^4 to 2^25, not {value}")
    return value


def _add_machines(parser: argparse.ArgumentParser, known: Iterable[str], *, default: str = "published") -> None:
    text = f"machines: {', '.join(known)} (default: %(default)s)"
    parser.add_argument(
        "--configs", default=default, type=listed(one_of(known, "machine")), metavar="NAME[,...]", help=text
    )


def _add_vertices(parser: argparse._ActionsContainer, *, default: str) -> None:
    text = "numbers of vertices, powers of two (default: %(default)s)"
    parser.add_argument("--vertices", default=default, type=listed(_power), metavar="N[,...]", help=text)


def _add_table1_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    _add_vertices(group, default="2^20")
    group.add_argument("--quick", action="store_const", dest="vertices", const=(1 << 16,), help="2^16 vertices")
    _add_machines(parser, SEARCH_MACHINES, default="published,hc2")


def _grid(vertices: str, degrees: str, machines: Iterable[str]) -> Callable[[argparse.ArgumentParser], None]:
    """Return a function that adds the options of a figure over graphs of several sizes and degrees."""

    def add(parser: argparse.ArgumentParser) -> None:
        _add_vertices(parser, default=vertices)
        text = "average degrees (default: %(default)s)"
        parser.add_argument(
            "--degrees", default=degrees, type=listed(at_least(1, 1 << 16)), metavar="D[,...]", help=text
        )
        text = "leave out graphs of more edges (default: 2^26)"
        parser.add_argument("--max-edges", default="2^26", type=at_least(1), metavar="N", help=text)
        _add_machines(parser, machines)

    return add


def _add_size(parser: argparse.ArgumentParser) -> None:
    text = "vertices of the random graphs (default: 100000, the text's)"
    parser.add_argument("--vertices", default=100_000, type=at_least(10, 1 << 25), metavar="N", help=text)


def _add_place(parser: argparse.ArgumentParser, user: str) -> None:
    add_shared(parser, "--device")
    add_threads(parser, user)


def _add_graphs(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--graphs", nargs="+", type=Path, default=(), metavar="FILE", help=text)


_IN_TIMES = "li and fbt"
_NAMED = "named as in the paper, they are compared with it"


def _add_time_options(parser: argparse.ArgumentParser) -> None:
    _add_vertices(parser, default="2^20")
    _add_graphs(parser, f"real graphs as well; {_NAMED}")
    _add_place(parser, _IN_TIMES)


def _add_generated_time_options(parser: argparse.ArgumentParser) -> None:
    _add_vertices(parser, default="2^20")
    _add_place(parser, _IN_TIMES)


def _add_real_time_options(parser: argparse.ArgumentParser) -> None:
    _add_graphs(parser, f"real graphs; {_NAMED} (default: random graphs of the same sizes)")
    parser.add_argument("--quick", action="store_true", help="random graphs of a hundredth of the size")
    _add_place(parser, _IN_TIMES)


def _add_pivot_options(parser: argparse.ArgumentParser) -> None:
    text = "pivots at a time (default: %(default)s)"
    parser.add_argument("--pivots", type=at_least(1, MOST_PIVOTS), default=PIVOTS, metavar="M", help=text)
    _add_place(parser, "the pivots' searches")


def _add_network_options(parser: argparse.ArgumentParser) -> None:
    text = f"real networks; {_NAMED}: collaboration, email, internet (default: random graphs of the same sizes)"
    _add_graphs(parser, text)
    _add_pivot_options(parser)


def _add_table2_pivot_options(parser: argparse.ArgumentParser) -> None:
    text = "graphs of up to 10,000 vertices only"
    parser.add_argument("--quick", action="store_const", dest="most", const=10_000, default=1_000_000, help=text)
    _add_pivot_options(parser)


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="models of some thousand states")
    _add_place(parser, "fbt")


def _add_mec_options(parser: argparse.ArgumentParser) -> None:
    _add_model_options(parser)
    text = "only these models of the table (default: all)"
    parser.add_argument("--models", metavar="NAME[,...]", type=lambda names: tuple(names.split(",")), help=text)


_PUBLISHED = tuple(name for name, config in PRESETS.items() if config.engines == 1 and config.bfs_kernels == 16)
"""Presets with the number of AEs and kernels of the published hardware that was simulated."""


def _add_hardware_options(parser: argparse.ArgumentParser) -> None:
    _add_machines(parser, _PUBLISHED, default="published-vhdl-1ae")
    text = "only these graphs of the table (default: all)"
    parser.add_argument("--graphs", metavar="NAME[,...]", type=lambda names: tuple(names.split(",")), help=text)
    group = parser.add_mutually_exclusive_group()
    text = "only these latencies of the table (default: all)"
    group.add_argument("--latencies", metavar="L[,...]", type=listed(at_least(1, 100_000)), help=text)
    group.add_argument("--quick", action="store_true", help="every third latency")
    text = "table of the published hardware's cycles, with the columns of the project's (default: the project's)"
    parser.add_argument("--reference", metavar="FILE.csv", help=text)
    text = "folder of the graphs, in files NAME.txt, .gr, .mtx or .npz, also gzipped (default: that of the table)"
    parser.add_argument("--folder", metavar="DIR", help=text)


_CELLS = "throughput of breadth-first search, 16 cells"
_VERTICES = "throughput against vertices"
_TIME = "time for strongly connected components against degree, by phase"
_SPEED_UP = "speed-up over sequential software against degree"
_SEARCHES = _grid("2^16,2^17,2^18,2^19,2^20,2^21,2^22", "8,16,32,64", SEARCH_MACHINES)
_COMPONENTS = _grid("2^16,2^18,2^20,2^22", "16,32,64,128,256", COMPONENT_MACHINES)
_LI_DEGREE = "recursion depth against average degree, with and without Partition"
_LI_SOURCES = "recursion depth against the number of Partition's sources"
_LI_TIME = "time and recursion depth beside Tarjan's algorithm"
_LI_GENERATED = "run times on generated graphs, beside those of Barnat's algorithms"
_LI_REAL = "run times on real graphs"
_QUACH_NETWORKS = "concurrent pivots against Tarjan's algorithm, three real networks"
_QUACH = "concurrent pivots against Tarjan's algorithm, G(n, m) graphs"
_HARDWARE = "cycles of the published VHDL, level by level, beside the simulation"
_WIJS = "components of the graphs of Markov decision processes: Tarjan, and fbt in five configurations"
_WIJS_MECS = "maximal end components of Markov decision processes: the basic algorithm, and the parallel one with fbt"

REPRODUCTIONS: tuple[Reproduction, ...] = (
    Reproduction("table1", "Table I", _CELLS, _add_table1_options, "searches:Table1", simulated=True),
    Reproduction(
        "fig10", "Figure 10", f"{_VERTICES}, uniform random graphs", _SEARCHES, "searches:Throughput", simulated=True
    ),
    Reproduction("fig11", "Figure 11", f"{_VERTICES}, R-MAT graphs", _SEARCHES, "searches:Throughput", simulated=True),
    Reproduction("fig12", "Figure 12", _TIME, _COMPONENTS, "components:Times", simulated=True),
    Reproduction("fig13", "Figure 13", _SPEED_UP, _COMPONENTS, "components:SpeedUps", simulated=True),
    Reproduction(
        "vhdl", "Published hardware", _HARDWARE, _add_hardware_options, "vhdl:PublishedHardware", generated=False
    ),
    Reproduction("li-fig2", "Figure 2 of Li et al. 2013", _LI_DEGREE, _add_size, "li:Degrees"),
    Reproduction("li-fig3", "Figure 3 of Li et al. 2013", _LI_SOURCES, _add_size, "li:Sources"),
    Reproduction("li-table2", "Tables 1 and 2 of Li et al. 2013", _LI_TIME, _add_time_options, "li:Times"),
    Reproduction("li-fig5", "Figure 5 of Li et al. 2013", _LI_GENERATED, _add_generated_time_options, "li:RunTimes"),
    Reproduction("li-fig6", "Figure 6 of Li et al. 2013", _LI_REAL, _add_real_time_options, "li:RealRunTimes"),
    Reproduction("quach-table1", "Table 1 of Quach et al. 2012", _QUACH_NETWORKS, _add_network_options, "quach:Table1"),
    Reproduction("quach-table2", "Table 2 of Quach et al. 2012", _QUACH, _add_table2_pivot_options, "quach:Table2"),
    Reproduction("wijs-table1", "Table 1 of Wijs et al. 2014", _WIJS, _add_model_options, "wijs:Table1"),
    Reproduction("wijs-table2", "Table 2 of Wijs et al. 2014", _WIJS_MECS, _add_mec_options, "wijs:Table2"),
)
