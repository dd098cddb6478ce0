"""The folder of sweeps: points that are complete, those that are being made, and their graphs."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from host.errors import InputError
from host.graph.csr import Graph
from host.graph.formats import read_graph, write_graph
from host.measuring.graphs import GraphSpec
from host.measuring.store import measurement_digest
from host.output import reason
from host.sweep.graphs import GraphFile
from host.sweep.points import Point
from sim.locks import alone, private_folder

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
    path, points : Path
        The folder, and the one in it that has a folder for each point.

    Raises
    ------
    InputError
        It cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.points, self._graphs = self.path / "points", self.path / "graphs"
        try:
            for folder in (self.points, self._graphs):
                folder.mkdir(parents=True, exist_ok=True)
                if not os.access(folder, os.W_OK | os.X_OK):
                    raise InputError("cannot be written: read only (--output)", path=folder)
        except OSError as error:
            raise InputError(f"cannot be made: {reason(error)} (--output)", path=path) from None

    def of(self, point: Point) -> Path:
        """Return the folder of a point; it is there when the point is complete."""
        return self.points / point.digest

    def make(self, point: Point, record: Callable[[Path], None]) -> None:
        """Make a point, unless it is there; where another process makes it, wait for that.

        Parameters
        ----------
        point : Point
            The point.
        record : callable
            Records the run in a folder that does not exist yet.
        """
        with alone(self._work(point)) as work:
            if self.of(point).exists():
                return
            made = work / "record"
            record(made)
            (made / POINT).write_text(json.dumps(point.inputs(), indent=1) + "\n")
            made.rename(self.of(point))

    def clear(self, point: Point) -> None:
        """Remove what is left of a point that nobody makes any more."""
        work = self._work(point)
        with suppress(OSError), private_folder(work) as mine:
            if mine:
                shutil.rmtree(work)

    def graph(self, graph: GraphSpec | GraphFile) -> tuple[Path, Graph]:
        """Return the file of a graph, and the graph. One that is to be generated is so once.

        Raises
        ------
        InputError
            The file cannot be read, or there is no such graph.
        """
        if isinstance(graph, GraphFile):
            return graph.path, graph.generate()
        path = self._graphs / f"{measurement_digest(graph.identity())}.npz"
        if path.exists():
            return path, read_graph(str(path))
        with alone(path.with_name(f".{path.stem}")):
            if path.exists():
                return path, read_graph(str(path))
            made = graph.generate()
            write_graph(made, path)
        return path, made

    def _work(self, point: Point) -> Path:
        return self.points / f".{point.digest}"
