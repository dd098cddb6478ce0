"""Run times of algorithms on several graphs, beside published ones: graphs of the user's, and those in their place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.experiments.measuring.measurements import Measured
from cyscc.host.experiments.studies.charts import Marks, draw_rows
from cyscc.host.experiments.studies.study import Case, Point, SoftwareStudy
from cyscc.host.output.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RunTimes", "run_time_figure"]

_REPLACED = (
    "A G(n, m) graph stands for each of the paper's graphs that was not given (--graphs). It has as many vertices and "
    "edges, but another structure."
)


def run_time_figure(rows: Sequence[Point], series: Sequence[tuple[str, str, str, str, str]]) -> "Figure":
    """Return the run times by graph as marks, measured ones filled, published ones hollow.

    Parameters
    ----------
    rows : sequence of dict
        The rows of `RunTimes.document`.
    series : sequence of (str, str, str, str, str)
        Of each series: field of the rows, name of the algorithm, field of the paper's row, name of the algorithm there,
        colour; the paper's are empty if it has none.
    """
    figure = new_figure(width=8, height=1.6 + 0.6 * len(rows))
    marks = [
        Marks(
            colour=colour,
            label=f"{name}: here",
            values=[row[field] for row in rows],
            paper_label=f"{its_name}: paper",
            paper=[row["paper"] and row["paper"].get(its_field) for row in rows],
        )
        for field, name, its_field, its_name, colour in series
    ]
    panel = figure.subplots(), [row["graph"] for row in rows], marks
    return draw_rows(figure, [panel], "time (ms)", line=False)


@dataclass(frozen=True, kw_only=True)
class RunTimes(SoftwareStudy):
    """A table of run times on several graphs; its figure has them as marks.

    The rows of its document have ``graph``, its name; ``stands_for``, the paper's graph that it replaces; the
    milliseconds of each contender; the time of ``tarjan`` over that of `main`, in `ratio`; the fields of `told`; and in
    ``paper`` the published row.

    Parameters
    ----------
    graphs : sequence of Path
        Files of graphs; those whose names are in the paper are compared with it.
    """

    graphs: Sequence[Path] = ()

    main: ClassVar[str]
    """The contender of the paper."""
    ratio: ClassVar[str]
    told: ClassVar[tuple[str, ...]] = ("vertices", "edges", "components", "counts")
    """Fields that rows have of the result of the paper's contender."""
    files: ClassVar[Mapping[str, Point]]
    """The paper's rows of graphs by names of files in lower case."""

    def case(
        self, name: str, graph: GraphSpec | GraphFile, paper: Point | None, *, stands_for: str | None = None
    ) -> Case:
        """Return the case of a graph, of which the paper may have a row."""
        known = {"graph": name, "stands_for": stands_for, "paper": paper}
        return Case(known, self.requests(graph))

    def given(self) -> Iterator[Case]:
        """Yield the graphs of the files.

        Raises
        ------
        InputError
            A file cannot be read.
        """
        for path in map(Path, self.graphs):
            name = path.name.partition(".")[0]
            yield self.case(name, GraphFile.of(path), self.files.get(name.lower()))

    def beside(self, rows: Sequence[Point], *, unit: float = 1, known: bool = True) -> Iterator[Case]:
        """Yield the graphs of the files, and a G(n, m) graph for each of the paper's rows that is not among them.

        Parameters
        ----------
        rows : sequence of dict
            The paper's rows.
        unit : float
            How many vertices, and edges, are one in the rows.
        known : bool
            Whether the paper's times are those of graphs of these sizes.
        """
        given = list(self.given())
        yield from given
        there = [self.files.get(case.known["graph"].lower()) for case in given]
        for row in (row for row in rows if row not in there):
            vertices, edges = round(row["vertices"] * unit), round(row["edges"] * unit)
            graph = GraphSpec(kind="gnm", vertices=vertices, exact_edges=edges, seed=self.seed)
            name = row["name"]
            yield self.case(f"G(n, m) for {name}", graph, row if known else None, stands_for=name)

    def points(self, case: Case, found: dict[str, Measured]) -> Iterator[Point]:
        """Yield the row of a graph."""
        times: dict[str, Any] = {name: 1e3 * result["seconds"] for name, result in found.items()}
        told = {name: found[self.main][name] for name in self.told}
        yield {**told, **times, self.ratio: times["tarjan"] / times[self.main]}

    def said(self, document: dict[str, Any]) -> list[str]:
        """Return a sentence on graphs that stand for the paper's; none if there are none."""
        return [_REPLACED] if any(row.get("stands_for") for row in document["rows"]) else []
