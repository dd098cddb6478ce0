"""Requests with invented results, in a separate module, which worker processes import."""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.plan.request import Request
from cyscc.host.graph.csr import Graph
from cyscc.sim.errors import SimulationError


def spec(*, kind: str = "random", degree: int = 2, vertices: int = 16, seed: int = 1) -> GraphSpec:
    """Return a small graph."""
    return GraphSpec(kind=kind, degree=degree, vertices=vertices, seed=seed)


@dataclass(frozen=True, kw_only=True)
class FakeRequest(Request):
    """A request that needs no machine; its result is the number of edges of its graph, and its process.

    Parameters
    ----------
    name : str
        Its name.
    fails : bool
        Whether measuring it fails.
    dies : bool
        Whether the process that measures it is killed.
    alone : bool
        Whether it must run alone.
    """

    graph: GraphSpec
    name: str = "fake"
    fails: bool = False
    dies: bool = False
    alone: bool = False  # type: ignore[misc]  # here each one has its own

    @property
    def label(self) -> str:
        return f"{self.graph.label}, {self.name}"

    @property
    def bytes(self) -> int:
        return self.graph.edges

    def setting(self) -> dict[str, Any]:
        return {}

    def measure(self, graph: Graph, *, verify: bool) -> dict[str, Any]:
        if self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fails:
            raise SimulationError("nothing moved", "kernel 0 waits")
        return {"edges": graph.edges, "verified": verify, **({"process": os.getpid()} if self.alone else {})}

    def summary(self, result: Mapping[str, Any]) -> str:
        return f"{result['edges']} edges"
