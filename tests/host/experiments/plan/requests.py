"""Requests for tests of plans: some nap, some fail, some are told apart by a number."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.plan.request import Request
from cyscc.host.graph.csr import Graph
from cyscc.sim.errors import HangError, SimulationError
from cyscc.sim.notices import notice


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


@dataclass(frozen=True, kw_only=True)
class Nap(Request):
    """A request to sleep.

    Parameters
    ----------
    label : str
        Its name.
    bytes : int
        The memory that it says to take.
    seconds : float
        How long it sleeps.
    end : {"", "hang", "bug", "kill"}
        How it fails after that.
    says : str
        Its notice.
    alone : bool
        Whether it needs a process of its own.
    """

    label: str = ""
    bytes: int = 0
    seconds: float = 0.0
    end: str = ""
    says: str = ""
    alone: bool = False  # type: ignore[misc]  # here each one has its own

    def setting(self) -> dict[str, Any]:
        return {}


def nap(request: Nap) -> tuple[float, float, int]:
    """Sleep, and return when that began and ended and in which process it was."""
    begin = time.monotonic()
    if request.says:
        notice(request.says)
    time.sleep(request.seconds)
    match request.end:
        case "hang":
            raise HangError("nothing moved", "kernel 0 waits")
        case "bug":
            raise ZeroDivisionError("division by zero")
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
    return begin, time.monotonic(), os.getpid()


def sleep_below(request: Nap) -> None:
    """Sleep in a process that this one starts, whose number goes to the file that is the request's label."""
    with subprocess.Popen(["sleep", "60"]) as process:
        Path(request.label).write_text(str(process.pid))
