"""`cyscc life`: lifetimes of queue entries in a waveform file."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cyscc.host.specification.options import UsageError, add_shared, at_least, check_outputs

if TYPE_CHECKING:
    from cyscc.sim.observation.life import Lives

__all__ = ["TEXTS", "add_options", "run"]


TEXTS = {
    "help": "show the life of queue entries in a waveform file",
    "description": "Show how entries of the queues, and the neighbours that come of them, went through the processes "
    "of their kernels, from the signals of a waveform file.",
    "epilog": """examples:
  cyscc bfs random.gr --source 1 --waves run.vcd --wave-window 20000:22000
  cyscc life run.vcd
  cyscc life run.vcd -o run.kanata --of engine0.bfs3
  cyscc life run.vcd --graph random.gr --of 4711

The text is for Konata, a viewer of pipelines: https://github.com/shioyadan/Konata
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("waves", metavar="WAVES", help="what --waves wrote: .vcd or .fst")
    parser.add_argument("-o", "--output", metavar="OUT", help="write Kanata text, for Konata ('-': standard output)")
    parser.add_argument(
        "--of",
        nargs="+",
        default=(),
        metavar="WHAT",
        help="selection: a vertex, a kernel such as engine0.bfs3, an AE such as engine0, a pattern with * (default: "
        "all)",
    )
    parser.add_argument(
        "--graph", metavar="FILE", help="the graph of the run: names vertices as its file, and identifies more of them"
    )
    parser.add_argument("--first", type=at_least(1), metavar="N", help="only the first N selected queue entries")
    parser.add_argument(
        "--top", type=at_least(1), default=24, metavar="N", help="maximum single lives listed (default: %(default)s)"
    )
    add_shared(parser, "--undirected", "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        A file without waveforms, or without the requested part; an output that cannot be written, or is the input file.
    """
    from cyscc.host.analysis.lives import chosen_lives, life_text, write_kanata
    from cyscc.host.output.files import STANDARD_OUTPUT, Content, show
    from cyscc.host.output.progress import Progress

    if arguments.undirected and arguments.graph is None:
        raise UsageError("--undirected needs --graph")
    check_outputs({"-o": arguments.output}, others={"the waveforms": arguments.waves}, content=Content.LIVES)
    quiet = arguments.quiet or arguments.output == STANDARD_OUTPUT
    with Progress(quiet=quiet).step("reading the waveforms"):
        window, lives = chosen_lives(
            Path(arguments.waves),
            of=arguments.of,
            first=arguments.first,
            option="--of",
            name=None if arguments.graph is None else partial(_name, arguments.graph, arguments.undirected),
        )
    if arguments.output is not None:
        write_kanata(arguments.output, window, lives)
    if not quiet:
        show(life_text(window, lives, rows=arguments.top))


def _name(file: str, undirected: bool, lives: "Lives") -> None:
    """Rename the vertices of lives to their names in a graph's file."""
    from cyscc.host.analysis.lives import directions_of, name_lives
    from cyscc.host.graph.formats import read_graph
    from cyscc.host.output.errors import locating_errors
    from cyscc.sim.notices import notice

    graph = read_graph(file, undirected=undirected, on_note=notice)
    with locating_errors(path=file):
        directions = directions_of(lives, graph)
    name_lives(lives, directions)
