"""`reproduce`: published tables and figures, from simulation or by software."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_args

from cyscc.host.baselines.algorithms import MOST_PIVOTS
from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS, study_of
from cyscc.host.experiments.studies.paper import SEARCH_MACHINES
from cyscc.host.interface.notes import Device, Jobs, NoVerify, Output, Wanted
from cyscc.host.specification.ask import Ask, Rule, question
from cyscc.host.specification.numbers import listed_values, whole_number
from cyscc.host.specification.run import option_of

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer

__all__ = ["reproduce"]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    return listed_values(text, partial(whole_number, low=1))


_MACHINES = f"machines: {', '.join(SEARCH_MACHINES)}; of vhdl presets of one AE"
Figure = Annotated[str, Ask(help="what to reproduce", metavar="FIGURE", choices=tuple(REPRODUCTIONS))]
_OPTIONS = {
    "vertices": Ask(
        help="numbers of vertices, powers of two; of li-fig2 and li-fig3 one", metavar="N[,...]", parse=_numbers
    ),
    "degrees": Ask(help="average degrees", metavar="D[,...]", parse=_numbers),
    "max_edges": Ask(help="leave out graphs of more edges", metavar="N", low=1),
    "configs": Ask(help=_MACHINES, metavar="NAME[,...]", parse=_names),
    "graphs": Ask(
        help="files of real graphs, which are compared with the paper's of the same names; of vhdl: only these of its "
        "table, NAME[,...]",
        metavar="FILE",
        count="+",
    ),
    "models": Ask(help="only these models of the table (default: all)", metavar="NAME[,...]", parse=_names),
    "latencies": Ask(help="only these latencies of the table (default: all)", metavar="L[,...]", parse=_numbers),
    "reference": Ask(
        help="table of the published hardware's cycles, with the columns of the project's (default: the project's)",
        metavar="FILE.csv",
    ),
    "folder": Ask(
        help="folder of the graphs, in files NAME.txt, .gr, .mtx or .npz, also gzipped (default: that of the table)",
        metavar="DIR",
    ),
    "pivots": Ask(help="pivots at a time", metavar="M", low=1, high=MOST_PIVOTS),
    "memory": option_of("memory"),
    "overrides": Ask(
        help="override a single value of the memory: memory.bank_busy=20; may be repeated",
        metavar="KEY=VALUE",
        flag="--set",
        repeated=True,
    ),
    "device": get_args(Device)[1],
    "threads": Ask(help="threads that the software may use (default: the cores)", metavar="N", low=1, high=1024),
    "seed": Ask(help="seed of the graphs", metavar="S", low=0, high=2**64 - 1),
}
"""Options of the studies; which of them has which says the catalogue."""

Quick = Annotated[bool, Ask(help="smaller graphs or models, or fewer of them")]

_FIGURES = "".join(
    f"  {name:13} {about.title}: {about.text}\n{'':16}{about.defaults()}\n" for name, about in REPRODUCTIONS.items()
)


@question(
    charts=("figure",),
    options=_OPTIONS,
    rules=(Rule(("quick",), excludes=("vertices", "latencies")),),
    examples=f"""examples:
  cyscc reproduce table1 --quick
  cyscc reproduce table1 --vertices 2^20,2^21,2^22,2^23 -o results

what can be reproduced, with its options and their defaults:
{_FIGURES}
Finished measurements are kept in DIR/measurements: an interrupted run continues where it stopped.
""",
)
def reproduce(
    figure: Figure,
    *,
    quick: Quick = False,
    verify: NoVerify = True,
    jobs: Jobs = None,
    output: Output = "build/reproduce",
    progress: Wanted = False,
    **options: Any,
) -> "Answer":
    """Reproduce published tables and figures.

    A table or figure of Attia et al. 2015 comes from simulation, one of other papers from the software that is
    published for the same problem, side by side with its paper.

    Raises
    ------
    SpecError
        The table or figure has no such option, or a value is invalid.
    InputError
        A file cannot be read, or the folder cannot be written.
    SimulationError
        A measurement failed.
    """
    from cyscc.host.interface.experiments import experiment, overrides_of
    from cyscc.host.specification.run import resolved_profile
    from cyscc.sim.trust import GivenText

    given = {name: value for name, value in options.items() if value is not None}
    changed = overrides_of(given.pop("overrides", None), memory=True)
    text = GivenText(given.get("memory", "hc2"))
    if "memory" in given or changed.memory:
        given["memory"] = GivenText(changed.memory_text(text))
    study = study_of(figure, given, quick=quick)
    # Validate the value before anything starts.
    resolved_profile(text, changed)
    return experiment(figure, study.answer, output=output, jobs=jobs, verify=verify, charts=True, progress=progress)
