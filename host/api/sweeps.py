"""Sweeps in the Python interface: `sweep`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.api.batches import batch_of
from cyscc.host.experiments.measuring.graphs import GraphFile
from cyscc.host.experiments.studies.paper import FAMILY
from cyscc.host.experiments.sweep.batch import Batch
from cyscc.host.experiments.sweep.definition import SweepStudy, line_study, read_study
from cyscc.host.experiments.sweep.measures import MEASURES, SUFFIX
from cyscc.host.experiments.sweep.outcome import Outcome, make_study
from cyscc.host.experiments.sweep.plot import sweep_figure
from cyscc.host.experiments.sweep.rows import study_effects
from cyscc.host.graph.csr import Graph
from cyscc.host.output.figures import write_plot
from cyscc.host.output.text import html_text
from cyscc.host.record.reader import Record
from cyscc.host.specification.run import checked_number
from cyscc.hw.values import plain
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.memory import Profile

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Sweep", "sweep"]

_Input = Graph | str | PathLike[str]


class Sweep:
    """A sweep; its `str` is what ``cyscc sweep`` prints.

    Attributes
    ----------
    rows : pandas.DataFrame
        A row for each point: its parameters and results, the columns of the table.
    effects : dict of str to float
        Cycles of the worst value of each parameter over those of the best, in descending order.
    table, page : Path
        Files of the table (Parquet) and the page (HTML).
    """

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.table, self.page = outcome.files["table"], outcome.files["page"]
        self.effects = {each.name: each.factor for each in study_effects(outcome.study, outcome.rows)}

    @property
    def rows(self) -> "pd.DataFrame":
        """A row for each point."""
        import pandas as pd

        return pd.DataFrame(self._outcome.rows)

    def record(self, row: int) -> Record:
        """Return the record of a point, by the number of its row.

        Raises
        ------
        ValueError
            The point failed.
        InputError
            The record cannot be read.
        """
        points = self._outcome.study.points
        point = points[checked_number("row", row, low=0, high=len(points) - 1)].point
        if failure := self._outcome.swept.failures.get(point.digest):
            raise ValueError(f"row {row} has no record: {failure}")
        return self._outcome.folder.record(point)

    def plot(self, path: str | PathLike[str] | None = None, *, measure: str = "cycles") -> "Figure":
        """Return the plot of the sweep, and write it to a file if there is a path.

        Parameters
        ----------
        path : str or path, optional
            File of the plot: SVG, PNG or PDF, by its suffix.
        measure : str
            What it shows: ``cycles``, ``gteps`` or ``seconds``.

        Raises
        ------
        ValueError
            There is no such result.
        InputError
            The file cannot be written.
        """
        if measure not in MEASURES:
            raise ValueError(f"measure must be {' or '.join(MEASURES)}, not {measure!r}")
        figure = sweep_figure(self._outcome.study, self._outcome.rows, measure)
        if path is not None:
            write_plot(lambda: figure, fspath(path))
        return figure

    def __str__(self) -> str:
        return self._outcome.text

    def _repr_html_(self) -> str:
        return html_text(self._outcome.text)


def sweep(
    graph: _Input | Sequence[_Input],
    settings: Mapping[str, Any] | None = None,
    *,
    algorithm: str | Sequence[str] | None = None,
    source: int | Sequence[int] | None = None,
    config: str | Sequence[str] | None = None,
    memory: str | Sequence[str] | None = None,
    folder: str | PathLike[str] = "build/sweep",
    jobs: int = 1,
    scheduler: str | None = None,
    area: bool = False,
    family: str = FAMILY,
    progress: bool = False,
) -> Sweep:
    """Simulate all combinations of some parameters, as ``cyscc sweep`` does.

    Parameters
    ----------
    graph : Graph, str, path, or a list of them
        Graphs, their files, or ``KIND:VERTICES:DEGREE:SEED``; or one study, a file that ends in ``.toml``.
    settings : mapping
        Values by parameter, as in a study: ``{"visit_depth": [16, 32, 64], "issue_interval": 2}``. Lists vary.
    algorithm, source, config, memory : optional
        Values of these parameters; lists vary. Of a study, only `memory` with the files of rules that it uses.
    folder : str or path
        Folder of points, table and page. Points are found there again.
    jobs : int
        Number of processes; with several, a script needs ``if __name__ == "__main__":``.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers make the points instead.
    area : bool
        Whether to synthesise the machines too.
    family : str
        The FPGA family: ``xc5v`` or ``xc6v``.
    progress : bool
        Show progress on standard error if it is a terminal.

    Raises
    ------
    ValueError
        A parameter is unknown, a value is invalid, or nothing varies.
    InputError
        A study, a graph or the folder cannot be used.
    SimulationError
        No further points can be made. A failed point does not raise: its row has the ``reason``.
    """
    batch = batch_of(folder, jobs=jobs, scheduler=scheduler, area=area, family=family, progress=progress)
    named = {"algorithm": algorithm, "config": config, "memory": memory, "source": source}
    given = {name: value for name, value in named.items() if value is not None}
    for name in settings or {}:
        if name in given:
            raise ValueError(f"{name} is given twice")
    given |= settings or {}
    values = {str(name): _plain(value) for name, value in given.items()}
    inputs = [graph] if isinstance(graph, Graph | str | PathLike) else list(graph)
    if not inputs:
        raise ValueError("there is no graph")
    return Sweep(make_study(_study(inputs, values, batch), batch))


def _study(inputs: Sequence[_Input], values: dict[str, Any], batch: Batch) -> SweepStudy:
    """Return the study in a file, or that of graphs and settings."""
    texts = [each if isinstance(each, Graph) else fspath(each) for each in inputs]
    study = next((each for each in texts if isinstance(each, str) and each.endswith(SUFFIX)), None)
    if study is not None:
        others = sorted(set(values) - {"memory"})
        if len(texts) > 1 or others:
            raise ValueError(f"{study} is a study, which has its own {others[0] if others else 'graphs'}")
        rules = values.get("memory", [])
        return read_study(Path(study), rules if isinstance(rules, list) else [rules])
    graphs: list[str | GraphFile] = []
    with batch.opened() as folder:
        for place, each in enumerate(texts):
            if isinstance(each, str):
                graphs.append(each)
                continue
            if "source" in values:
                values["source"] = _indices(each, values["source"], alone=len(texts) == 1)
            graphs.append(replace(folder.keep(each), name="graph" if len(texts) == 1 else f"graph {place + 1}"))
        return line_study(graphs, values)


def _indices(graph: Graph, sources: Any, *, alone: bool) -> Any:
    """Return the numbers of vertices in the file of a graph, which numbers them from 0."""
    if not alone:
        raise ValueError("source: a sweep over several graphs in memory has none: each has its own names of vertices")
    if isinstance(sources, list):
        return [_indices(graph, each, alone=True) for each in sources]
    return graph.index(checked_number("source", sources, low=0))


def _plain(value: Any) -> Any:
    """Return a value, or several, as a study has them."""
    if hasattr(value, "tolist"):  # an array, or a number of one
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    if isinstance(value, AcceleratorConfig | Profile):
        raise ValueError("a sweep takes configurations and memories by name or file; settings change their values")
    return fspath(value) if isinstance(value, PathLike) else plain(value)
