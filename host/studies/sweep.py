"""What figures 10 to 13 go over: machines, and graphs of all degrees and sizes up to a number of edges."""

import argparse
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from host.errors import InputError
from host.measuring.graphs import size_text
from host.studies.search_points import run_fields

__all__ = ["Sweep", "left_out_text"]


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What a figure goes over.

    Parameters
    ----------
    figure : str
        Its name.
    configs : tuple of str
        Names of machines, of `host.studies.machines`.
    vertices, degrees : tuple of int
        Sizes of the graphs: each with each.
    max_edges : int
        Edges of the largest graph; larger ones are left out.
    memory : str
        Memory profile.
    seed : int
        Seed of the graphs.
    """

    figure: str
    configs: tuple[str, ...]
    vertices: tuple[int, ...]
    degrees: tuple[int, ...]
    max_edges: int
    memory: str
    seed: int

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "Sweep":
        """Return what options ask for."""
        return cls(**{name: getattr(arguments, name) for name in cls.__dataclass_fields__})

    def graphs(self) -> list[tuple[int, int]]:
        """Return degree and vertices of each graph.

        Raises
        ------
        InputError
            None is small enough.
        """
        pairs = list(itertools.product(self.degrees, self.vertices))
        kept = [pair for pair in pairs if pair[0] * pair[1] <= self.max_edges]
        if not kept:
            least = min(degree * size for degree, size in pairs)
            raise InputError(f"no graph has at most {self.max_edges} edges: the smallest one has {least} (--max-edges)")
        return kept

    def document(self, results: Mapping[Any, Mapping[str, Any]], *, kind: str) -> dict[str, Any]:
        """Return what a figure's document says of it, the points apart.

        Parameters
        ----------
        results : mapping
            What was measured.
        kind : str
            Kind of graphs.
        """
        kept = self.graphs()
        left_out = [pair for pair in itertools.product(self.degrees, self.vertices) if pair not in kept]
        return {
            "figure": self.figure,
            **run_fields(results, memory=self.memory, seed=self.seed),
            "kind": kind,
            "max_edges": self.max_edges,
            "left_out": [{"degree": degree, "vertices": vertices} for degree, vertices in left_out],
        }


def left_out_text(document: dict[str, Any]) -> str:
    """Return a line that names the graphs left out, empty when there are none."""
    names = [f"degree {each['degree']} with {size_text(each['vertices'])}" for each in document["left_out"]]
    if not names:
        return ""
    return f"\nLeft out, more than {size_text(document['max_edges'])} edges: {', '.join(names)} vertices.\n"
