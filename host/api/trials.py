"""Changes of recorded runs, measured, in the Python interface: `what_if`."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from cyscc.host.analysis.explain.proposals import proposals
from cyscc.host.api.batches import batch_of
from cyscc.host.api.records import Recorded, Shown, inputs_of, record_of
from cyscc.host.experiments.studies.paper import FAMILY
from cyscc.host.experiments.sweep.recorded import settings_text
from cyscc.host.experiments.trial.page import conclusion, trial_page, trial_rows
from cyscc.host.experiments.trial.trial import Trial, checked_seconds, try_changes
from cyscc.host.graph.csr import Graph
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.memory import Profile
from cyscc.sim.trust import GivenText

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = ["WhatIf", "what_if"]


class WhatIf(Shown):
    """Effects of changed settings on a recorded run, measured; its `str` is that of ``explain --try``.

    Attributes
    ----------
    cycles : int
        Cycles of the run as it was, made again.
    changes : pandas.DataFrame
        A row for each change: settings, what it could save at most, measured cycles, their relative change, area.
    best : dict or None
        Settings of the change with the fewest cycles; None if none makes the run faster by 0.5 % or more.
    conclusion : list of str
        The conclusion, in sentences.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self.cycles = trial.baseline.cycles
        self.best = None if trial.best is None else dict(trial.best.settings)
        self.conclusion = conclusion(trial)

    @property
    def changes(self) -> "pd.DataFrame":
        """A row for each change."""
        import pandas as pd

        baseline, *rows = trial_rows(self._trial)
        named = [{**row, "settings": settings_text(row["settings"])} for row in rows]
        return pd.DataFrame(named, columns=list(baseline))

    def _page(self) -> "list[RenderableType]":
        return trial_page(self._trial)


def what_if(
    recorded: Recorded,
    *changes: Mapping[str, Any],
    folder: str | PathLike[str] = "build/explain",
    limit: float | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    area: bool = False,
    family: str = FAMILY,
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | str | PathLike[str] | None = None,
    progress: bool = False,
) -> WhatIf:
    """Make a recorded run again with changed settings, as ``cyscc explain --try`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    *changes : mapping
        Settings that are changed together, by name: ``{"word_depth": 64}``; by default the proposals for the run,
        the most promising first, while there is time.
    folder : str or path
        Folder of the runs, which are found there again.
    limit : float, optional
        Seconds for the proposals; by default ten times the recorded run's and 60.
    jobs : int
        Number of processes; with several, a script needs ``if __name__ == "__main__":``.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers make the runs instead.
    area : bool
        Whether to synthesise the machines too.
    family : str
        The FPGA family: ``xc5v`` or ``xc6v``.
    graph : Graph, str or path, optional
        The graph, or its file; by default the result's graph, or the file that the run read.
    memory : Profile, str or path, optional
        The memory profile, or its file, of a run whose rules are in a file; that file is code.
    progress : bool
        Show progress on standard error if it is a terminal.

    Raises
    ------
    ValueError
        A change or the limit is invalid, or the run was not recorded.
    InputError
        The record, its graph or its memory, or the folder cannot be used.
    SimulationError
        The run as it was failed, or the synthesis did.
    """
    batch = batch_of(folder, jobs=jobs, scheduler=scheduler, area=area, family=family, progress=progress)
    record, again = record_of(recorded), inputs_of(recorded, graph, memory)
    # A text may name code, as it is the caller's.
    tried = [
        {
            name: GivenText(value) if isinstance(value, str) else value
            for name, value in Overrides.of(each).values().items()
        }
        for each in changes
    ]
    seconds = None if limit is None else checked_seconds(limit)
    proposed = [] if changes else proposals(record)
    return WhatIf(try_changes(record, tried, batch, proposed=proposed, limit=seconds, **again))
