"""The machines that the paper's table and figures were measured on."""

from cyscc.host.experiments.studies.machines import COMPONENT_MACHINES, SEARCH_MACHINES, preset_of
from cyscc.hw.config import PRESETS


def test_searches_were_measured_on_the_bfs_build() -> None:
    # Requests of the figures have the presets of the others.
    assert preset_of("published-scc", 4) == "published"


def test_every_machine_has_presets_that_can_do_its_work() -> None:
    for machine in SEARCH_MACHINES:
        one, four = (PRESETS[preset_of(machine, engines)] for engines in (1, 4))
        assert (one.engines, four.engines) == (1, 4)
        assert one == four.replace(engines=1, ring_stages=one.ring_stages)
    assert not any(PRESETS[preset].bfs_only for preset in COMPONENT_MACHINES.values())
