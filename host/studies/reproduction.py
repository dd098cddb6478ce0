"""Tables and figures of papers, as `cyscc reproduce` offers them, and what a study comes to."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.options import at_least, integer, listed, one_of
from host.output import open_output, write_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from host.measuring.measurements import Measurements

__all__ = [
    "COMPONENT_MACHINES",
    "SEARCH_MACHINES",
    "Report",
    "Reproduction",
    "add_graph_options",
    "add_machines",
    "add_vertices",
    "late",
    "preset_of",
]


@dataclass(frozen=True)
class Reproduction:
    """Table or figure that is measured and shown. It is there before anything is imported that takes long.

    Parameters
    ----------
    name : str
        Its name on the command line, and that of its files.
    title : str
        What its paper calls it.
    text : str
        What it shows.
    options : callable
        Adds its own options to a parser.
    make : callable
        Measures and returns the report; imports what takes long.
    simulated : bool
        Whether it simulates a machine, whose memory is an option then.
    """

    name: str
    title: str
    text: str
    _: KW_ONLY
    options: Callable[[argparse.ArgumentParser], None]
    make: "Callable[[Measurements, argparse.Namespace], Report]"
    simulated: bool = True


def late(function: str) -> "Callable[[Measurements, argparse.Namespace], Report]":
    """Return a function of a module of this room, ``module:name``, which is imported when it is called."""

    def make(measurements: "Measurements", arguments: argparse.Namespace) -> "Report":
        module, name = function.split(":")
        report: Report = getattr(import_module(f"host.studies.{module}"), name)(measurements, arguments)
        return report

    return make


_LEAST, _MOST = 1 << 4, 1 << 25


def _size(text: str) -> int:
    """Return a number of vertices such as 2^16.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none, or no power of two, or too large.
    """
    value = integer(text, low=1)
    if value & (value - 1) or not _LEAST <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"must be powers of two from 2^4 to 2^25, not {value}")
    return value


def add_machines(parser: argparse.ArgumentParser, known: Mapping[str, str], *, default: str = "published") -> None:
    """Add the option that names the machines, of `host.studies.reproduction`."""
    text = f"machines: {', '.join(known)} (default: %(default)s)"
    parser.add_argument(
        "--configs", default=default, type=listed(one_of(known, "machine")), metavar="NAME[,...]", help=text
    )


def add_vertices(parser: argparse._ActionsContainer, *, default: str) -> None:
    """Add the option that says how many vertices graphs have."""
    text = "numbers of vertices, powers of two (default: %(default)s)"
    parser.add_argument("--vertices", default=default, type=listed(_size), metavar="N[,...]", help=text)


def add_graph_options(parser: argparse.ArgumentParser, *, vertices: str, degrees: str) -> None:
    """Add the options that say how large graphs are, with their defaults."""
    add_vertices(parser, default=vertices)
    parser.add_argument(
        "--degrees",
        default=degrees,
        type=listed(at_least(1, 1 << 16)),
        metavar="D[,...]",
        help="average degrees (default: %(default)s)",
    )
    parser.add_argument(
        "--max-edges",
        default="2^26",
        type=at_least(1),
        metavar="N",
        help="leave out graphs of more edges (default: 2^26)",
    )


SEARCH_MACHINES = {"published": "published-bfs", "published-scc": "published", "hc2": "hc2"}
"""Table I, figures 10 and 11: by name, the preset with four AEs.

The paper measured them on its BFS build, which has rows of its own in table II and sources of its own, so `published`
is that build here; `published-scc` is the one that finds components.
"""

COMPONENT_MACHINES = {"published": "published", "hc2": "hc2"}
"""Figures 12 and 13: by name, the preset with four AEs. The paper's was its SCC build."""


def preset_of(machine: str, engines: int) -> str:
    """Return the preset of a machine of `SEARCH_MACHINES` with one or four AEs."""
    preset = SEARCH_MACHINES[machine]
    return preset if engines == 4 else f"{preset}-1ae"


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of a study.

    Parameters
    ----------
    document : dict
        For programs, JSON-able.
    markdown : str
        For people.
    figure : matplotlib.figure.Figure, optional
        The plot.
    failure : str, optional
        What the study shows to be not as it should, one line.
    """

    document: dict[str, Any]
    markdown: str
    figure: "Figure | None" = None
    failure: str = ""

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write the files, and return their paths.

        Parameters
        ----------
        folder : Path
            Where they go.
        name : str
            Their name without suffix.

        Raises
        ------
        InputError
            One could not be written.
        """
        paths = [folder / f"{name}.{suffix}" for suffix in ("json", "md")]
        write_json(str(paths[0]), self.document)
        with open_output(str(paths[1])) as file:
            file.write(self.markdown.encode())
        if self.figure is not None:
            from host.results.plots import write_plot

            paths.append(folder / f"{name}.svg")
            write_plot(self.figure, paths[-1])
        return paths
