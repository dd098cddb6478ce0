"""Runs on the command line: the options of `scc` and `bfs`, and what becomes of the result."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from host.options import add_run_options, as_usage, given_options
from host.runs.specification import run_options

__all__ = ["add_simulation", "simulated"]

_OUTPUTS: dict[str, dict[str, dict[str, Any]]] = {
    "threads": {"--json": {"metavar": "OUT", "help": "write the result as JSON ('-': standard output)"}},
    "verify": {"--quiet": {"action": "store_true", "help": "print nothing but errors"}},
}
"""Options that are no run's, by the field of `RunSpec` that they stand behind in the help."""


def add_simulation(
    commands: Any,
    algorithm: str,
    outputs: Mapping[str, Mapping[str, Mapping[str, Any]]],
    run: Callable[[argparse.Namespace], None],
    **texts: str,
) -> None:
    """Add a command that makes a run, with the options of the run and of its outputs.

    Parameters
    ----------
    commands
        Those of the command line.
    algorithm : str
        The algorithm of the run, which the command is named for.
    outputs : mapping
        Further options as `argparse` takes them, by flag, each after the field of `RunSpec` that it stands behind.
    run : callable
        Runs the command.
    **texts
        ``help``, ``description`` and ``epilog`` as `argparse` takes them.
    """
    parser: argparse.ArgumentParser = commands.add_parser(algorithm, **texts)
    for name in run_options(algorithm):
        if name != "algorithm":
            add_run_options(parser, name)
        for flag, how in {**outputs, **_OUTPUTS}.get(name, {}).items():
            parser.add_argument(flag, **how)
    parser.set_defaults(run=run)


@contextmanager
def simulated(
    arguments: argparse.Namespace,
    algorithm: str,
    outputs: Mapping[str, str | None],
    **values: Any,
) -> Iterator[tuple[Any, Callable[[dict[str, Any], str], None]]]:
    """Make the run of a command line; its checkpoint is removed at the end of the block, which writes the outputs.

    The block is given the result, and a function that publishes a document and a table as `publish` does.

    Parameters
    ----------
    arguments : argparse.Namespace
        The arguments, with those of `add_simulation`.
    algorithm : str
        The algorithm of the run.
    outputs : mapping of str to (str or None)
        Output file of each option besides those of the run and ``--json``.
    **values
        Values of fields of `RunSpec` that follow from other options.

    Raises
    ------
    UsageError, InputError
        Options that make no sense, outputs that cannot be written, input that cannot be used.
    SimulationError
        The simulation failed, or its result is wrong.
    """
    required = ("graph", "source") if algorithm == "bfs" else ("graph",)
    given = {**given_options(arguments, required=required), **values}
    from host.api.runs import performed
    from host.command_line.outputs import check_outputs
    from host.errors import InputError, VertexError
    from host.output import STANDARD_OUTPUT, publish
    from host.progress import Progress
    from host.runs.keeping import Keeping

    progress = Progress(quiet=arguments.quiet)
    with as_usage():
        keeping = Keeping(algorithm, given)
    try:
        spec = keeping.spec
        written = {**outputs, "--json": arguments.json, "--waves": spec.waves, "--trace": spec.trace}
        check_outputs(written, others={"the graph": spec.graph})
        with as_usage():
            spec.checked()
        quiet = arguments.quiet or STANDARD_OUTPUT in written.values()
        try:
            with performed(spec, progress, keeping=keeping) as result:
                yield result, partial(publish, path=arguments.json, quiet=quiet)
        except VertexError as error:
            raise InputError(f"{error} (--source)", path=spec.graph) from None
    finally:
        keeping.close()
