"""Recorded runs, made again with changes: `what_if` (``explain --try``) and `smallest_depths` (``--depths``)."""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from cyscc.host.analysis.explain.proposals import proposals
from cyscc.host.answer.answer import Answer
from cyscc.host.experiments.depths.smallest import WITHIN, SmallestDepths
from cyscc.host.experiments.sweep.recorded import RecordedPoints
from cyscc.host.experiments.trial.trial import attempt_line, checked_seconds, trial_answer, try_changes
from cyscc.host.interface.experiments import plan_of
from cyscc.host.interface.given import inputs_of, record_of
from cyscc.host.interface.notes import AgainMany, AnyRecord, File
from cyscc.host.specification.overrides import Overrides
from cyscc.hw.values import plain
from cyscc.sim.trust import GivenText


def what_if(
    recorded: AnyRecord,
    *changes: Mapping[str, Any],
    folder: File = "build/explain",
    limit: float | None = None,
    **again: Unpack[AgainMany],
) -> Answer:
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
    **again
        How the runs are made: ``jobs``, the number of processes, by default one (with several, a script needs
        ``if __name__ == "__main__":``), or a ``scheduler``, the address of that of a Dask cluster; ``area``, whether
        to synthesise the machines too, and for which ``family``, ``xc5v`` or ``xc6v``, or both; the ``graph`` or its
        file, by default the result's graph, or the file that the run read; the ``memory`` profile, or its file, of a
        run whose rules are in a file, which is code; and ``progress``, whether to show it if standard error is a
        terminal.

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
    seconds = None if limit is None else checked_seconds(limit)
    # A text may name code, as it is the caller's.
    own = [
        {
            name: GivenText(value) if isinstance(value, str) else value
            for name, value in Overrides.of(each).values().items()
        }
        for each in changes
        if each
    ]
    runs = _prepared(recorded, folder, **again)
    trial = try_changes(
        runs,
        own,
        proposed=[] if own and all(changes) else proposals(runs.record),
        limit=seconds,
        on_attempt=lambda attempt: runs.plan.progress.tell(attempt_line(attempt)),
    )
    return trial_answer(trial)


def smallest_depths(
    recorded: AnyRecord,
    *,
    within: float = WITHIN,
    check: Iterable[File] = (),
    folder: File = "build/explain",
    **again: Unpack[AgainMany],
) -> Answer:
    """Find the smallest FIFOs with which a recorded run takes hardly more cycles, as ``cyscc explain --depths`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    check : iterable of str or path
        Files of other graphs, on which the smallest FIFOs are checked.
    folder, **again
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
    return SmallestDepths(_prepared(recorded, folder, **again), within=within, check=list(map(str, check))).answer()


def _prepared(
    recorded: AnyRecord, folder: File, *, graph: Any = None, memory: Any = None, **many: Any
) -> RecordedPoints:
    """Return a recorded run, and how it is made again."""
    plan = plan_of(folder, **many)
    with plan.progress.step("reading the record"):
        record, inputs = record_of(recorded), inputs_of(recorded, graph=graph, memory=memory)
    return RecordedPoints(record, plan, **inputs)
