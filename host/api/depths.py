"""Smallest FIFOs of recorded runs in the Python interface: `smallest_depths`."""

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING

from cyscc.host.api.batches import batch_of
from cyscc.host.api.records import Recorded, Shown, inputs_of, record_of
from cyscc.host.experiments.depths.page import depths_page, depths_rows
from cyscc.host.experiments.depths.smallest import WITHIN, SmallestDepths
from cyscc.host.experiments.depths.smallest import smallest_depths as find_smallest
from cyscc.host.experiments.studies.paper import FAMILY
from cyscc.host.graph.csr import Graph
from cyscc.host.record.reader import Record
from cyscc.hw.values import plain
from cyscc.sim.memory import Profile

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = ["FifoDepths", "smallest_depths"]


class FifoDepths(Shown):
    """Smallest FIFOs with which a recorded run takes hardly more cycles; its `str` is that of ``explain --depths``.

    Attributes
    ----------
    settings : dict of str to int
        The smallest depths that differ from the present ones, by parameter, as overrides of a run.
    present_cycles, cycles, limit : int
        Cycles with the present and with the smallest depths, and the most that are within the limit.
    area : dict of str to dict
        Area of the machines with ``present`` and ``smallest`` depths, over all AEs; empty if it was not asked for.
    """

    def __init__(self, found: SmallestDepths) -> None:
        self._found = found
        self.settings = found.settings
        self.present_cycles, self.cycles = found.cycles[found.present], found.cycles[found.smallest]
        self.limit = found.limit
        machines = {"present": found.present, "smallest": found.smallest}
        self.area = {name: dict(found.areas[depths]) for name, depths in machines.items() if found.areas}

    @property
    def depths(self) -> "pd.DataFrame":
        """A row for each FIFO: its depths, and the cycles with half of the smallest one."""
        import pandas as pd

        return pd.DataFrame([vars(depth) for depth in self._found.depths])

    @property
    def checks(self) -> "pd.DataFrame":
        """A row for each other graph: its cycles with the present and with the smallest depths."""
        import pandas as pd

        return pd.DataFrame([vars(check) for check in self._found.checks], columns=["graph", "present", "smallest"])

    @property
    def runs(self) -> "pd.DataFrame":
        """A row for each measured run: depths, cycles, and whether they are within the limit."""
        import pandas as pd

        return pd.DataFrame(depths_rows(self._found))

    @property
    def record(self) -> Record:
        """The record of the run with the smallest depths."""
        return Record(self._found.smallest_record)

    def _page(self) -> "list[RenderableType]":
        return depths_page(self._found)


def smallest_depths(
    recorded: Recorded,
    *,
    within: float = WITHIN,
    check: Iterable[str | PathLike[str]] = (),
    folder: str | PathLike[str] = "build/explain",
    jobs: int = 1,
    scheduler: str | None = None,
    area: bool = False,
    family: str = FAMILY,
    graph: Graph | str | PathLike[str] | None = None,
    memory: Profile | str | PathLike[str] | None = None,
    progress: bool = False,
) -> FifoDepths:
    """Find the smallest FIFOs with which a recorded run takes hardly more cycles, as ``cyscc explain --depths`` does.

    Parameters
    ----------
    recorded : Record, Result, str or path
        A record, the result of a recorded run, or a record's folder.
    within : float
        Cycles that smaller FIFOs may cost, as a share of the run's.
    check : iterable of str or path
        Files of other graphs, on which the smallest FIFOs are checked.
    folder : str or path
        Folder of the runs, which are found there again.
    jobs : int
        Number of processes; with several, a script needs ``if __name__ == "__main__":``.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers make the runs instead.
    area : bool
        Whether to synthesise the machines with present and smallest depths too.
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
        A number is out of range, or the run was not recorded.
    InputError
        The record, its graph or its memory, or the folder cannot be used.
    SimulationError
        A run or the synthesis failed.
    """
    within = plain(within)
    if isinstance(within, bool) or not isinstance(within, int | float) or not 0 <= within <= 1:
        raise ValueError(f"within must be a number from 0 to 1, not {within!r}")
    batch = batch_of(folder, jobs=jobs, scheduler=scheduler, area=area, family=family, progress=progress)
    record, again = record_of(recorded), inputs_of(recorded, graph, memory)
    return FifoDepths(find_smallest(record, batch, within=within, check=list(map(str, check)), **again))
