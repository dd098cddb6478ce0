"""Table I and figures 10 to 13 of Attia et al., from made-up measurements."""

from typing import Any

import pytest

from cyscc.host.experiments.measuring.runs import BfsRequest
from cyscc.host.experiments.studies.catalogue import COMPONENT_MACHINES, SEARCH_MACHINES, preset_of
from cyscc.host.output.errors import InputError
from cyscc.hw.config import PRESETS
from tests.host.experiments.studies.results import grid, made_up, study


def test_every_machine_has_presets_that_can_do_its_work() -> None:
    for machine in SEARCH_MACHINES:
        one, four = (PRESETS[preset_of(machine, engines)] for engines in (1, 4))
        assert (one.engines, four.engines) == (1, 4)
        assert one == four.replace(engines=1, ring_stages=one.ring_stages)
    assert not any(PRESETS[preset].bfs_only for preset in COMPONENT_MACHINES.values())


def test_bounds() -> None:
    found = study("fig10", vertices=(16, 32, 64), degrees=(2, 4), max_edges=128)
    assert found.graphs() == [(2, 16), (2, 32), (2, 64), (4, 16), (4, 32)]
    with pytest.raises(InputError, match=r"^no graph has at most 31 edges: the smallest one has 32 \(--max-edges\)$"):
        study("fig10", vertices=(16, 32), degrees=(2, 4), max_edges=31).graphs()
    assert study("fig10", vertices=(16,), degrees=(2,), max_edges=32).graphs() == [(2, 16)]


def test_degrees_that_the_paper_has_not() -> None:
    def result(each: BfsRequest) -> dict[str, Any]:
        return made_up(each, gteps=each.graph.vertices / 100)

    found = grid("fig10", [(8, 16), (9, 32)], result, max_edges=256)
    assert [
        (p["degree"], p["vertices"], p["engines"], p["simulated"], p["paper"], p["ratio"])
        for p in found.document["points"][2:6]
    ] == [
        (8, 32, 1, 0.32, 0.504, pytest.approx(0.32 / 0.504)),
        (8, 32, 4, 0.32, 1.949, pytest.approx(0.32 / 1.949)),
        (9, 16, 1, 0.16, None, None),
        (9, 16, 4, 0.16, None, None),
    ]
    assert found.cells("points")[4] == ["published", "9", "16", "1", "", "0.160", "", ""]
