"""Requests whose results are made up."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from host.graph.csr import Graph
from host.measuring.graphs import GraphSpec
from sim.errors import SimulationError

__all__ = ["FakeRequest", "spec"]


def spec(*, kind: str = "random", degree: int = 2, vertices: int = 16, seed: int = 1) -> GraphSpec:
    """Return a small graph."""
    return GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=seed)


@dataclass(frozen=True, kw_only=True)
class FakeRequest:
    """A request that needs no machine; its result is the number of edges of its graph.

    Parameters
    ----------
    graph : GraphSpec
        The graph.
    name : str
        Its name.
    fails : bool
        Whether measuring it fails.
    """

    graph: GraphSpec
    name: str = "fake"
    fails: bool = False

    @property
    def label(self) -> str:
        return f"{self.graph.label}, {self.name}"

    @property
    def bytes(self) -> int:
        return self.graph.edges

    @property
    def machine(self) -> tuple[str, str] | None:
        return None

    def inputs(self) -> dict[str, Any]:
        return {"graph": asdict(self.graph), "name": self.name}

    def measure(self, graph: Graph, *, verify: bool) -> dict[str, Any]:
        if self.fails:
            raise SimulationError("nothing moved", "kernel 0 waits")
        return {"edges": graph.edges, "verified": verify}

    def summary(self, result: Mapping[str, Any]) -> str:
        return f"{result['edges']} edges"
