"""Cycles of the simulation beside those of the published hardware: the bars of the comparison, kept."""

from collections.abc import Iterable
from typing import Any

import pytest

from cyscc.host.experiments.studies.vhdl import PublishedHardware


class InProcess:
    """Measurements made here, and not stored."""

    def measure(self, requests: Iterable[Any]) -> dict[Any, Any]:
        wanted = list(requests)
        graphs = {file: file.generate() for file in {request.graph for request in wanted}}
        return {request: request.measure(graphs[request.graph], verify=False) for request in wanted}


def compared(**asked: Any) -> dict[str, Any]:
    how: dict[str, Any] = {"reference": None, "folder": None, "graphs": None, "latencies": None, "quick": False}
    measurements: Any = InProcess()
    document = PublishedHardware(configs=("published-1ae",), **how | asked).document(measurements)
    (machine,) = document["machines"]
    assert machine["vertices_and_edges"]["met"]
    return machine


def test_some_runs() -> None:
    # Single runs scatter by some percent on both sides, and so do means of a few.
    machine = compared(quick=True, graphs=("random_4096_d8", "rmat_8192_d8", "hub_3001", "chain_300"))
    assert machine["ratio"] == pytest.approx(1, abs=0.005)
    assert [graph["ratio"] for graph in machine["graphs"]] == pytest.approx([1] * 4, abs=0.012)


@pytest.mark.long
def test_all_runs() -> None:
    machine = compared()
    each, over_all, _ = machine["bars"]
    assert each["met"]
    assert over_all["met"]
