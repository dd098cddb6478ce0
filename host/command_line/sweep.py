"""`cyscc sweep`: a parameter study over machine, memory, graph and algorithm."""

import argparse
import re
import shlex
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.command_line.experiment import add_area, add_jobs, batch_of
from cyscc.host.experiments.sweep.measures import MEASURES, SUFFIX
from cyscc.host.specification.options import UsageError, add_shared, check_outputs
from cyscc.host.specification.run import ALGORITHMS, whole_number
from cyscc.sim.configuration import PRESETS

if TYPE_CHECKING:
    from cyscc.host.experiments.sweep.definition import SweepStudy

__all__ = ["TEXTS", "add_options", "run"]

TEXTS = {
    "help": "simulate a study of one's own over many parameters",
    "description": "Simulate a graph on machines that differ in some parameters, or all points of a study, and report "
    "the effect of each parameter.",
    "epilog": """examples:
  cyscc sweep random.gr --set visit_depth=16,32,64 --plot depths.svg
  cyscc sweep random.gr --set visit_depth=16,32,64 --set memory.bank_busy=8,15
  cyscc sweep random:2^16:8 rmat:2^16:8 --config hc2,published --memory hc2,fixed:75 --plot machines.svg
  cyscc sweep depths.toml
  cyscc sweep depths.toml --area -o results
  cyscc sweep depths.toml --scheduler tcp://127.0.0.1:8786

All combinations of the values are simulated. A graph is a file, or is generated: KIND:VERTICES:DEGREE:SEED, of kind
random, rmat or ssca2. Parts at the end may be missing, and varied: random:2^16 --set graph.degree=4,8,16.
STUDY.toml: parameters that vary, as a [grid] or as [[points]], and others that do not. With search = N, a search
chooses N points of them instead of making all. Complete points are kept
in DIR/points: a sweep that was interrupted goes on where it was, and studies share what is equal.
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("inputs", metavar="GRAPH|STUDY.toml", nargs="+", help="graphs, or a study")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE[,...]",
        help="values of a parameter of a study: visit_depth=16,32,64, memory.bank_busy=8,15; may be repeated",
    )
    parser.add_argument(
        "--algorithm", metavar="NAME[,...]", help=f"algorithm: {' or '.join(ALGORITHMS)} (default: bfs)"
    )
    parser.add_argument(
        "--source", metavar="ID[,...]", help="start of a search (default: the lowest vertex with an out-edge)"
    )
    parser.add_argument(
        "--config", metavar="NAME[,...]", help=f"machines: {', '.join(PRESETS)}, or TOML files (default: hc2)"
    )
    parser.add_argument(
        "--memory",
        action="append",
        default=[],
        metavar="PROFILE[,...]",
        help="memories, as of scc (default: hc2); rules in a FILE.py are code, and a study that uses them needs this "
        "option; may be repeated",
    )
    add_shared(parser, "--undirected")
    parser.add_argument(
        "-o",
        "--output",
        default="build/sweep",
        metavar="DIR",
        help="folder for points, table and report (default: %(default)s)",
    )
    parser.add_argument("--plot", metavar="OUT.svg", help="draw the cycles against the parameters (SVG, PNG or PDF)")
    parser.add_argument("--measure", choices=tuple(MEASURES), help="what --plot draws (default: cycles)")
    add_jobs(parser)
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="simulate on the workers of this Dask scheduler, instead of --jobs"
    )
    add_area(parser, "synthesise each machine too, and draw cycles against area")
    parser.add_argument("--json", metavar="OUT", help="write the rows as JSON too ('-': standard output)")
    add_shared(parser, "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage, an invalid study, outputs that cannot be written.
    SimulationError
        Points failed, or no point could run.
    """
    from cyscc.host.experiments.sweep.outcome import make_study, study_files
    from cyscc.host.experiments.sweep.plot import sweep_figure
    from cyscc.host.experiments.sweep.rows import sweep_document
    from cyscc.host.output.figures import write_plot
    from cyscc.host.output.files import STANDARD_OUTPUT, output_result
    from cyscc.sim.errors import SimulationError

    if arguments.measure is not None and arguments.plot is None:
        raise UsageError("--measure needs --plot")
    if arguments.plot == STANDARD_OUTPUT:
        raise UsageError("--plot needs a file")
    batch = batch_of(arguments, quiet=arguments.quiet)
    study = _study(arguments)
    inputs = {("the study" if each.endswith(SUFFIX) else f"the graph {each}"): each for each in arguments.inputs}
    files = {f"the {name}": str(path) for name, path in study_files(study, batch.folder).items()}
    check_outputs({"--json": arguments.json, "--plot": arguments.plot}, others={**inputs, **files})
    made = make_study(study, batch, command=shlex.join(arguments.words))
    if arguments.plot is not None:
        measure = arguments.measure or next(iter(MEASURES))
        write_plot(lambda: sweep_figure(made.study, made.rows, measure), arguments.plot)
    document = sweep_document(made.study, made.rows)
    output_result(document, made.text, path=arguments.json, quiet=arguments.quiet)
    if made.failure is not None:
        raise SimulationError(made.failure)


def _study(arguments: argparse.Namespace) -> "SweepStudy":
    """Return the study in the file, or that of the command line.

    Raises
    ------
    UsageError, InputError
        It is invalid, or there are options of the one beside the other.
    """
    from cyscc.host.experiments.sweep.definition import line_study, read_study

    settings = _settings(arguments)
    studies = [each for each in arguments.inputs if each.endswith(SUFFIX)]
    if not studies:
        try:
            return line_study(arguments.inputs, settings)
        except ValueError as error:
            raise UsageError(str(error)) from None
    if len(arguments.inputs) > 1:
        raise UsageError(f"{studies[0]} is a study, which names its graphs itself")
    for name in settings:
        if name != "memory":
            raise UsageError(f"{name} is given, and {studies[0]} is a study, which has its own values")
    return read_study(Path(studies[0]), arguments.memory)


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the options by the name of the parameter: one, or a list of several.

    Raises
    ------
    UsageError
        A parameter is given twice, or without a value.
    """
    named = ((name, getattr(arguments, name)) for name in ("algorithm", "config", "source"))
    given = [(name, text) for name, text in named if text is not None]
    if arguments.undirected:
        given.append(("undirected", "true"))
    if arguments.memory:
        given.append(("memory", ",".join(arguments.memory)))
    for text in arguments.settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise UsageError(f"--set: {text!r} is not KEY=VALUE")
        given.append((name, value))
    settings: dict[str, Any] = {}
    for name, text in given:
        if name in settings:
            raise UsageError(f"{name} is given twice")
        values = list(_values(name, text))
        settings[name] = values if len(values) > 1 else values[0]
    return settings


def _values(name: str, text: str) -> Iterable[Any]:
    """Return the values in a text: numbers such as 2^10, values of TOML, or other texts, which need no quotes."""
    # A comma in brackets is part of a value: {from=16,to=64,times=2}, own.py (a=1, b=2).
    for part in re.split(r",(?![^{(]*[})])", text):
        value = part.strip()
        if not value:
            raise UsageError(f"{name}: {text!r} lacks a value")
        with suppress(ValueError):
            yield whole_number(value, low=0)
            continue
        try:
            yield tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            yield value
