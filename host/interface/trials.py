"""Recorded runs, made again with changes: `what_if` (``explain --try``) and `smallest_depths` (``--depths``)."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.proposals import proposals
from cyscc.host.experiments.depths.answer import depths_answer
from cyscc.host.experiments.depths.smallest import WITHIN
from cyscc.host.experiments.depths.smallest import smallest_depths as find_smallest
from cyscc.host.experiments.studies.paper import FAMILY
from cyscc.host.experiments.trial.answer import attempt_line, trial_answer
from cyscc.host.experiments.trial.trial import checked_seconds, try_changes
from cyscc.host.interface.experiments import batch_of
from cyscc.host.interface.recorded import inputs_of, record_of
from cyscc.host.output.progress import Progress
from cyscc.host.specification.overrides import Overrides
from cyscc.hw.values import plain
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    from cyscc.host.answer.answer import Answer
    from cyscc.host.graph.csr import Graph
    from cyscc.host.interface.notes import Recorded, Wanted
    from cyscc.sim.memory import Profile

__all__ = ["smallest_depths", "what_if"]


def what_if(
    recorded: "Recorded",
    *changes: Mapping[str, Any],
    folder: str | PathLike[str] = "build/explain",
    limit: float | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    area: bool = False,
    family: str | tuple[str, ...] = FAMILY,
    graph: "Graph | str | PathLike[str] | None" = None,
    memory: "Profile | str | PathLike[str] | None" = None,
    progress: "Wanted" = False,
) -> "Answer":
    """Make a recorded run again with changed settings, as ``cyscc explain --try`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    *changes : mapping
        Settings that are changed together, by name: ``{"word_depth": 64}``; an empty one stands for the proposals for
        the run, the most promising first, while there is time. By default these alone.
    folder : str or path
        Folder of the runs, which are found there again.
    limit : float, optional
        Seconds for the proposals; by default ten times the recorded run's and 60.
    jobs : int, optional
        Number of processes, by default one; with several, a script needs ``if __name__ == "__main__":``.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers make the runs instead.
    area : bool
        Whether to synthesise the machines too.
    family : str or tuple of str
        The FPGA family: ``xc5v`` or ``xc6v``, or both.
    graph : Graph, str or path, optional
        The graph, or its file; by default the result's graph, or the file that the run read.
    memory : Profile, str or path, optional
        The memory profile, or its file, of a run whose rules are in a file; that file is code.
    progress : Progress or bool
        Whether to show progress on standard error if it is a terminal.

    Returns
    -------
    Answer
        `cycles` of the run as it was, a table of `changes`, the settings of the `best` one, and `conclusion`.

    Raises
    ------
    ValueError
        A change or the limit is invalid, or the run was not recorded.
    InputError
        The record, its graph or its memory, or the folder cannot be used.
    SimulationError
        The run as it was failed, or the synthesis did.
    """
    progress = Progress.of(progress)
    batch = batch_of(folder, jobs=jobs, scheduler=scheduler, area=area, family=family, progress=progress)
    seconds = None if limit is None else checked_seconds(limit)
    with progress.step("reading the record"):
        record = record_of(recorded)
    # A text may name code, as it is the caller's.
    own = [
        {
            name: GivenText(value) if isinstance(value, str) else value
            for name, value in Overrides.of(each).values().items()
        }
        for each in changes
        if each
    ]
    trial = try_changes(
        record,
        own,
        batch,
        proposed=[] if own and all(changes) else proposals(record),
        limit=seconds,
        on_attempt=lambda attempt: progress.tell(attempt_line(attempt)),
        **inputs_of(recorded, graph, memory),
    )
    return trial_answer(trial)


def smallest_depths(
    recorded: "Recorded",
    *,
    within: float = WITHIN,
    check: Iterable[str | PathLike[str]] = (),
    folder: str | PathLike[str] = "build/explain",
    jobs: int | None = None,
    scheduler: str | None = None,
    area: bool = False,
    family: str | tuple[str, ...] = FAMILY,
    graph: "Graph | str | PathLike[str] | None" = None,
    memory: "Profile | str | PathLike[str] | None" = None,
    progress: "Wanted" = False,
) -> "Answer":
    """Find the smallest FIFOs with which a recorded run takes hardly more cycles, as ``cyscc explain --depths`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    check : iterable of str or path
        Files of other graphs, on which the smallest FIFOs are checked.
    folder, jobs, scheduler, area, family, graph, memory, progress
        As of `what_if`.

    Returns
    -------
    Answer
        `settings`, `cycles`, `present_cycles` and `limit`; tables of the `depths`, the `checks`, the `runs` and
        the `area`.

    Raises
    ------
    ValueError
        A number is out of range, or the run was not recorded.
    InputError
        The record, its graph or its memory, or the folder cannot be used.
    SimulationError
        A run or the synthesis failed.
    """
    within = plain(within)
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 <= within <= 1:
        raise ValueError(f"within must be a number from 0 to 1, not {within!r}")
    progress = Progress.of(progress)
    batch = batch_of(folder, jobs=jobs, scheduler=scheduler, area=area, family=family, progress=progress)
    with progress.step("reading the record"):
        record = record_of(recorded)
    again = inputs_of(recorded, graph, memory)
    return depths_answer(find_smallest(record, batch, within=within, check=list(map(str, check)), **again))
