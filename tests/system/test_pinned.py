"""Runs on sound hardware equal their pins, and the cycles of the published hardware."""

from collections.abc import Iterable
from dataclasses import astuple, replace
from typing import Any

import pytest

from cyscc.host.experiments.studies.catalogue import study_of
from tests.conftest import Pins
from tests.system.pinned import RUNS, PinnedRun, Trace, slowly
from tests.system.runs import made


@pytest.mark.parametrize("run", [pytest.param(run, id=run.name) for run in RUNS])
def test_run_leaves_what_is_pinned(run: PinnedRun, pins: Pins) -> None:
    # What the AEs show besides is seen in Amaranth's simulator only.
    with slowly(run) if pins.written and run.watched else made(run.preset, run.memory) as machine:
        found = run.trace(machine)
    pins.check(run.name, astuple(found), same=lambda _, pin: found.agrees(Trace(*pin)))


def test_every_pin_is_of_a_run(pins: Pins) -> None:
    pins.check_names([run.name for run in RUNS])


class InProcess:
    """Measurements made here, and not stored."""

    def measure(self, requests: Iterable[Any]) -> dict[Any, Any]:
        wanted = list(requests)
        graphs = {file: file.generate() for file in {request.graph for request in wanted}}
        return {request: request.measure(graphs[request.graph], verify=False) for request in wanted}


def compared(config: str, **asked: Any) -> dict[str, Any]:
    measurements: Any = InProcess()
    study: Any = study_of("vhdl", {})
    document = replace(study, configs=(config,), **asked).document(measurements)
    machine: dict[str, Any]
    (machine,) = document["machines"]
    assert machine["vertices_and_edges"]["met"]
    return machine


def test_some_runs() -> None:
    graphs = ("random_4096_d8", "rmat_8192_d8", "hub_3001", "chain_300")
    machine = compared("published-vhdl-1ae", quick=True, graphs=graphs)
    assert all(bar["met"] for bar in machine["bars"][1:])
    # Where no two kernels race, and nothing is lost, every level is equal to the cycle.
    equal = {graph: [level["equal"] for level in machine["levels"] if level["graph"] == graph] for graph in graphs}
    assert equal["chain_300"] == [5] * 300
    assert equal["hub_3001"] == [5, 5]
    assert equal["rmat_8192_d8"][:2] == equal["random_4096_d8"][:2] == [5, 5]
    # Single runs scatter by some percent on both sides, and so do means of a few.
    assert [graph["ratio"] for graph in machine["graphs"]] == pytest.approx([1] * 4, abs=0.012)


@pytest.mark.long
def test_all_runs() -> None:
    machine = compared("published-vhdl-1ae")
    assert [bar["met"] for bar in machine["bars"]] == [True, True, True]
    equal = {
        graph: sum(level["equal"] for level in machine["levels"] if level["graph"] == graph)
        for graph in ("hub_3001", "chain_300")
    }
    assert equal == {"hub_3001": 26, "chain_300": 3900}


@pytest.mark.long
def test_the_shorter_pipeline() -> None:
    # Other phases against the token: long levels differ by more.
    machine = compared("published-1ae")
    assert [bar["met"] for bar in machine["bars"]] == [True, True, False]
