"""The folder of sweeps: the store of their points, and that of their graphs."""

import json
from collections.abc import Callable
from pathlib import Path

from host.graph.csr import Graph
from host.graph.formats import read_graph, write_graph
from host.measuring.graphs import GraphFile, GraphSpec
from host.measuring.store import Store, measurement_digest
from host.sweep.points import Point

__all__ = ["POINT", "SweepFolder"]

POINT = "point.json"
"""File of a point's folder that says what went into it."""


class SweepFolder:
    """Keeps points and graphs. Several processes, of several sweeps too, may use it at the same time.

    Parameters
    ----------
    path : Path
        The folder, made with its parents.

    Attributes
    ----------
    path : Path

    Raises
    ------
    InputError
        It cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._points, self._graphs = (Store(self.path / name, named=path) for name in ("points", "graphs"))

    def of(self, point: Point) -> Path:
        """Return the folder of a point; it is there when the point is complete."""
        return self._points.folder / point.digest

    def make(self, point: Point, record: Callable[[Path], None]) -> None:
        """Make a point, unless it is there; where another process makes it, wait for that.

        Parameters
        ----------
        point : Point
            The point.
        record : callable
            Records the run in a folder that does not exist yet.
        """

        def make(made: Path) -> None:
            record(made)
            (made / POINT).write_text(json.dumps(point.inputs(), indent=1) + "\n")

        self._points.make(point.digest, make)

    def clear(self, point: Point) -> None:
        """Remove what is left of a point that nobody makes any more."""
        self._points.clear(point.digest)

    def graph(self, graph: GraphSpec | GraphFile) -> tuple[Path, Graph]:
        """Return the file of a graph, and the graph. One that is to be generated is so once.

        Raises
        ------
        InputError
            The file cannot be read, or there is no such graph.
        """
        if isinstance(graph, GraphFile):
            return graph.path, graph.generate()
        name = f"{measurement_digest(graph.identity())}.npz"
        path = self._graphs.make(name, lambda made: write_graph(graph.generate(), made))
        return path, read_graph(str(path))
