"""`cyscc model`: members of families of Markov decision processes, written to files."""

import argparse
from pathlib import Path

from cyscc.host.baselines.mdp.families import FAMILIES, family
from cyscc.host.output.progress import Progress
from cyscc.host.specification.options import UsageError, add_shared, at_least

__all__ = ["TEXTS", "add_options", "run"]

_TEXTS = "\n".join(f"  {name:<14}{each.text}" for name, each in FAMILIES.items())


def _size(text: str) -> tuple[str, int]:
    """Parse a size, ``SIZE=N``.

    Raises
    ------
    argparse.ArgumentTypeError
        The text is not a size.
    """
    name, equals, number = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not SIZE=N")
    return name, at_least(0, 2**64 - 1)(number)


TEXTS = {
    "help": "write a Markov decision process of a family",
    "description": "Write a Markov decision process of a family, in a size of one's own.",
    "epilog": f"""families:
{_TEXTS}

examples:
  cyscc model grid width=1000 height=1000 room=10 -o grid.tra
  cyscc model random states=1e6 seed=7 -o random.drn.gz

OUT: .tra (PRISM) or .drn (Storm); each also .gz
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("family", metavar="FAMILY", choices=FAMILIES, help="one of those below")
    parser.add_argument(
        "sizes", metavar="SIZE=N", nargs="*", type=_size, help="a size of the member: width=1000, states=1e6, seed=7"
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the file to write")
    add_shared(parser, "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        A size is out of range, or the file cannot be written.
    """
    from cyscc.host.baselines.mdp.formats import check_name, write_mdp
    from cyscc.host.output.files import check_output, show
    from cyscc.host.output.text import model_text

    names = [name for name, _ in arguments.sizes]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is given twice")
    check_name(arguments.output)
    check_output(arguments.output, "--output")
    progress = Progress(quiet=arguments.quiet)
    with progress.step("generating") as step:
        mdp = family(arguments.family, on_step=step, **dict(arguments.sizes))
    with progress.step("writing") as step:
        write_mdp(mdp, Path(arguments.output), watch=step)
    if not arguments.quiet:
        show(model_text(arguments.output, mdp.states, mdp.choice_count, mdp.transition_count) + "\n")
