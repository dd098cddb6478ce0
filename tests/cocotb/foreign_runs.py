"""The runs that are made on other ports than the native ones."""

from typing import Protocol

from cocotb.task import bridge

from cyscc.host.graph.reference import canonical, check_components, check_levels
from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.coprocessor import Coprocessor
from tests.system.graphs import messy_graph
from tests.system.runs import search, solve

ENGINES = "CYSCC_TEST_ENGINES"
"""Environment variable that says how many AEs the machine has; one if it is not set."""

GRAPHS = "CYSCC_TEST_GRAPHS"
"""Environment variable that says how many graphs."""


def machine_of(engines: int) -> AcceleratorConfig:
    """Return a small machine; of several AEs, each has a single kernel of a kind, since the build takes long."""
    return PRESETS["test"].replace(engines=engines, bfs_kernels=2 if engines == 1 else 1)


class _Bench(Protocol):
    def set_pace(self, seed: int) -> None: ...

    async def reset(self) -> None: ...


def _find(coprocessor: Coprocessor, seed: int) -> None:
    """Find the components of a graph, or, for each third seed, search it; check the result."""
    graph = messy_graph(5 + seed % 7, 9 + seed % 17, seed)
    if seed % 3:
        run = solve(coprocessor, graph, slack=200)
        assert check_components(canonical(run.colours), graph) is None
    else:
        found = search(coprocessor, graph, 0, slack=200)
        assert check_levels(found.levels, graph, 0) is None


async def run_graphs(bench: _Bench, coprocessor: Coprocessor, count: int) -> None:
    """Make runs on random graphs, each at another pace and after a reset.

    Parameters
    ----------
    bench : object
        Sets the pace and resets the AE.
    coprocessor : Coprocessor
        The AE.
    count : int
        Number of graphs.
    """
    for seed in range(count):
        bench.set_pace(seed)
        await bench.reset()
        await bridge(_find)(coprocessor, seed)
