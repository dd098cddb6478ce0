"""Run times of algorithms on several graphs, beside published ones: graphs of the user's, and the plot."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cyscc.host.experiments.measuring.graphs import GraphFile, GraphSpec
from cyscc.host.output.figures import MARKERS, add_legend, log_axis, new_figure, row_axis, row_places

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["REPLACED", "Series", "given_graphs", "replacement", "run_time_figure"]

REPLACED = (
    "A G(n, m) graph stands for each of the paper's graphs that was not given (--graphs). It has as many vertices and "
    "edges, but another structure."
)
"""Note on tables that have graphs of `replacement`."""

_Row = TypeVar("_Row")


def given_graphs(
    files: Iterable[str | PathLike[str]], published: Mapping[str, _Row]
) -> Iterator[tuple[str, GraphFile, _Row | None]]:
    """Yield the name of each file, its graph, and what is published of a graph of this name.

    Parameters
    ----------
    files : iterable of str or path
        The files.
    published : mapping
        Published rows by name, in lower case.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    for path in map(Path, files):
        name = path.name.partition(".")[0]
        yield name, GraphFile.of(path), published.get(name.lower())


def replacement(name: str, *, vertices: int, edges: int, seed: int) -> tuple[str, GraphSpec]:
    """Return name and graph, G(n, m), that stand for a graph that is not here."""
    return f"G(n, m) for {name}", GraphSpec(kind="gnm", vertices=vertices, exact_edges=edges, seed=seed)


class Series(NamedTuple):
    """A series of run times.

    Parameters
    ----------
    field, name : str
        Field of a row that has the time in milliseconds; the algorithm's name.
    published, its_name : str or None
        Field of the published row in ``paper``, and the algorithm's name there; None if there is none.
    colour : str
        Colour of its points.
    """

    field: str
    name: str
    published: str | None
    its_name: str | None
    colour: str


def run_time_figure(rows: Sequence[Mapping[str, Any]], series: Sequence[Series]) -> "Figure":
    """Return the run times by graph as points, measured ones filled, published ones hollow.

    Parameters
    ----------
    rows : sequence of mapping
        Documents with ``graph``, the name, ``paper``, the published row or None, and the fields of the series.
    series : sequence of Series
        The series.
    """
    figure = new_figure(width=8, height=1.6 + 0.6 * len(rows))
    axes = figure.subplots()
    for number, each in enumerate(series):
        places = row_places(len(rows), number, len(series))
        looks: dict[str, Any] = {"color": each.colour, "marker": MARKERS[number], "linestyle": "none"}
        axes.plot([row[each.field] for row in rows], places, label=f"{each.name}: here", **looks)
        known = {
            place: row["paper"][each.published]
            for place, row in zip(places, rows, strict=True)
            if row["paper"] and row["paper"].get(each.published) is not None
        }
        if known:
            label = f"{each.its_name}: paper"
            axes.plot(list(known.values()), list(known), markerfacecolor="white", label=label, **looks)
    row_axis(axes, [row["graph"] for row in rows])
    axes.set_xlabel("time (ms)")
    log_axis(axes, "x")
    add_legend(figure, len(series))
    return figure
