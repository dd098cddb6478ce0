"""`model`: members of families of Markov decision processes, written to files."""

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyscc.host.baselines.mdp import families
from cyscc.host.interface.notes import Wanted
from cyscc.host.output.files import Content
from cyscc.host.output.progress import Progress
from cyscc.host.specification.ask import Ask, SpecError, question
from cyscc.host.specification.numbers import whole_number

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer

__all__ = ["model"]


def _size(text: str) -> tuple[str, int]:
    """Parse a size, ``SIZE=N``.

    Raises
    ------
    ValueError
        The text is not a size.
    """
    name, equals, number = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is not SIZE=N")
    return name, whole_number(number, low=0)


Family = Annotated[str, Ask(help="one of those below", metavar="FAMILY", choices=tuple(families.FAMILIES))]
Sizes = Annotated[
    Mapping[str, int] | Iterable[tuple[str, int]],
    Ask(help="a size of the member: width=1000, states=1e6, seed=7", metavar="SIZE=N", count="*", parse=_size),
]
Output = Annotated[str | PathLike[str], Ask(help="the file to write", metavar="OUT", short="-o", writes=Content.MODEL)]


@question(
    examples="families:\n"
    + "\n".join(f"  {name:<14}{each.text}" for name, each in families.FAMILIES.items())
    + """

examples:
  cyscc model grid width=1000 height=1000 room=10 -o grid.tra
  cyscc model random states=1e6 seed=7 -o random.drn.gz

OUT: .tra (PRISM) or .drn (Storm); each also .gz
""",
)
def model(family: Family, sizes: Sizes = (), *, output: Output, progress: Wanted = False) -> "Answer":
    """Write a Markov decision process of a family.

    Raises
    ------
    SpecError
        A size is given twice.
    InputError
        A size is out of range, or the file cannot be written.
    """
    from cyscc.host.answer.answer import Answer
    from cyscc.host.baselines.mdp.formats import check_name, write_mdp
    from cyscc.host.output.text import model_text

    pairs = tuple(sizes.items() if isinstance(sizes, Mapping) else sizes)
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise SpecError("sizes", f"{name} is given twice")
    check_name(str(output))
    steps = Progress.of(progress)
    with steps.step("generating") as step:
        mdp = families.family(family, on_step=step, **dict(pairs))
    with steps.step("writing") as step:
        write_mdp(mdp, Path(output), watch=step)
    counts = {"states": mdp.states, "choices": mdp.choice_count, "transitions": mdp.transition_count}
    return Answer(
        title=model_text(str(output), *counts.values()),
        fields={"model": {"file": str(output), **counts}, "family": family, "sizes": dict(pairs)},
    )
