"""`cyscc reproduce`: the paper's table and figures, from simulation."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from host.command_line.options import Parser, at_least, integer
from host.results.output import STANDARD_OUTPUT, check_output
from host.studies.reproduction.machines import COMPONENT_MACHINES, SEARCH_MACHINES

if TYPE_CHECKING:
    from host.measuring.campaign import Campaign
    from host.studies.reproduction.reports import Report

__all__ = ["add_parser", "run"]

_EPILOG = """examples:
  cyscc reproduce table1 --quick
  cyscc reproduce table1 --vertices 2^20,2^21,2^22,2^23 -o results

Finished measurements are kept in DIR/measurements: an interrupted run continues where it stopped.
"""

_LEAST, _MOST = 1 << 4, 1 << 25
_LARGE = "2^16,2^18,2^20,2^22"
_FIGURES = {
    "fig10": (10, "throughput against vertices, uniform random graphs"),
    "fig11": (11, "throughput against vertices, R-MAT graphs"),
    "fig12": (12, "time for strongly connected components against degree, by phase"),
    "fig13": (13, "speed-up over sequential software against degree"),
}


def _sizes(text: str) -> tuple[int, ...]:
    """Return the numbers of vertices that a list such as 2^16,2^20 names."""
    values = tuple(integer(part, low=1) for part in text.split(","))
    for value in values:
        if value & (value - 1) or not _LEAST <= value <= _MOST:
            raise argparse.ArgumentTypeError(f"must be powers of two from 2^4 to 2^25, not {value}")
    return _once(values)


def _degrees(text: str) -> tuple[int, ...]:
    """Return the degrees that a list such as 8,16 names."""
    return _once(tuple(integer(part, low=1, high=1 << 16) for part in text.split(",")))


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise argparse.ArgumentTypeError(f"{value} is given twice")
    return values


def _machines(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return a parser of lists of machines."""

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(text.split(","))
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"unknown machine {name!r}: there are {', '.join(known)}")
        return _once(names)

    return parse


def _profile(text: str) -> str:
    """Return the text of a memory profile if it names one."""
    from sim.memory import parse_profile

    try:
        parse_profile(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _add_common(parser: argparse.ArgumentParser, *, configs: str, known: Sequence[str]) -> None:
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--configs",
        default=configs,
        type=_machines(known),
        metavar="NAME[,...]",
        help=f"machines: {', '.join(known)} (default: %(default)s)",
    )
    parser.add_argument(
        "--memory",
        default="hc2",
        type=_profile,
        metavar="PROFILE",
        help="memory: hc2 (default), fixed:CYCLES, stress, or a TOML file",
    )
    parser.add_argument(
        "--seed", default=1, type=at_least(0, 2**64 - 1), metavar="S", help="seed of the graphs (default: 1)"
    )
    parser.add_argument(
        "--jobs",
        default=cores,
        type=at_least(1, 1024),
        metavar="N",
        help="processes that measure side by side (default: the cores, %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", default="build/reproduce", metavar="DIR", help="folder for the results (default: %(default)s)"
    )
    parser.add_argument("--json", metavar="OUT", help="write the JSON there too ('-': standard output)")
    parser.add_argument("--no-verify", action="store_true", help="do not check the results")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "reproduce",
        help="reproduce the paper's table and figures",
        description="Reproduce a table or figure of Attia et al. 2015 from simulation, side by side with the paper.",
        epilog=_EPILOG,
    )
    figures = parser.add_subparsers(dest="figure", metavar="FIGURE", required=True, parser_class=Parser)
    text = "throughput of breadth-first search, 16 cells"
    table1 = figures.add_parser("table1", help=text, description=f"Table I: {text}.")
    sizes = table1.add_mutually_exclusive_group()
    sizes.add_argument(
        "--vertices", type=_sizes, metavar="N[,...]", help="numbers of vertices, powers of two (default: 2^20)"
    )
    sizes.add_argument("--quick", action="store_true", help="2^16 vertices")
    _add_common(table1, configs="published,hc2", known=tuple(SEARCH_MACHINES))
    table1.set_defaults(run=run, make=_table1)
    for name, (number, text) in _FIGURES.items():
        figure = figures.add_parser(name, help=text, description=f"Figure {number}: {text}.")
        searches = number < 12
        sizes_text, degrees_text = ("2^16,...,2^22", "8,16,32,64") if searches else (_LARGE, "16,32,64,128,256")
        exponents = range(16, 23) if searches else range(16, 23, 2)
        figure.add_argument(
            "--vertices",
            default=tuple(1 << exponent for exponent in exponents),
            type=_sizes,
            metavar="N[,...]",
            help=f"numbers of vertices, powers of two (default: {sizes_text})",
        )
        figure.add_argument(
            "--degrees",
            default=_degrees(degrees_text),
            type=_degrees,
            metavar="D[,...]",
            help=f"average degrees (default: {degrees_text})",
        )
        figure.add_argument(
            "--max-edges",
            default=1 << 26,
            type=at_least(1),
            metavar="N",
            help="leave out graphs of more edges (default: 2^26)",
        )
        machines = SEARCH_MACHINES if searches else COMPONENT_MACHINES
        _add_common(figure, configs="published", known=tuple(machines))
        figure.set_defaults(run=run, make=_figure)


def _figure(campaign: "Campaign", arguments: argparse.Namespace) -> "Report":
    from host.studies.reproduction.reports import components, throughput

    make = throughput if arguments.figure in ("fig10", "fig11") else components
    return make(
        campaign,
        arguments.figure,
        configs=arguments.configs,
        vertices=arguments.vertices,
        degrees=arguments.degrees,
        most=arguments.max_edges,
        memory=arguments.memory,
        seed=arguments.seed,
    )


def _table1(campaign: "Campaign", arguments: argparse.Namespace) -> "Report":
    from host.studies.reproduction.reports import table1

    vertices = arguments.vertices or ((1 << 16,) if arguments.quick else (1 << 20,))
    return table1(campaign, arguments.configs, vertices, memory=arguments.memory, seed=arguments.seed)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage.
    SimulationError
        A measurement failed.
    """
    if arguments.json is not None:
        check_output(arguments.json, "--json")
    # Imported late: they import the simulator.
    from host.measuring.campaign import Campaign
    from host.measuring.store import Store

    folder = Path(arguments.output)
    store = Store(folder / "measurements")
    for suffix in ("json", "md", "svg"):
        check_output(str(folder / f"{arguments.figure}.{suffix}"), "--output")
    shows = not arguments.quiet and sys.stderr.isatty()
    campaign = Campaign(
        store,
        jobs=arguments.jobs,
        verify=not arguments.no_verify,
        report=(lambda line: print(line, file=sys.stderr, flush=True)) if shows else None,
    )
    report: Report = arguments.make(campaign, arguments)
    report.write(folder, arguments.figure, json=arguments.json)
    if not arguments.quiet and arguments.json != STANDARD_OUTPUT:
        sys.stdout.write(report.markdown)
        sys.stdout.write(
            f"\n{campaign.asked} measurements, {campaign.found} of them taken over from {folder / 'measurements'}\n"
            f"written: {', '.join(str(folder / f'{arguments.figure}.{suffix}') for suffix in ('json', 'md', 'svg'))}\n"
        )
