"""Maximal end components with the accelerator: those of the processor, cycles by round."""

import numpy as np
import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.basic import basic
from cyscc.host.baselines.mec.checker import check_mecs
from cyscc.host.output.progress import Progress
from cyscc.host.runs.mec import run_accelerated_mec
from cyscc.host.specification.run import RunSpec


def check(mdp: Mdp) -> None:
    spec = RunSpec(algorithm="scc", graph="model", config="test", threads=1)
    found, rounds = run_accelerated_mec(mdp, spec, Progress(quiet=True))
    assert check_mecs(mdp, found.mecs) is None
    expected = basic(mdp)
    assert np.array_equal(found.mecs, expected.mecs)
    assert found.rounds == expected.rounds
    assert len(rounds) == len(expected.rounds) > 1
    assert all(each.verified for each in rounds)
    for round_, own in zip(rounds, expected.rounds, strict=True):
        assert round_.run.components == own.components
        assert (round_.graph.vertices, round_.setting.edges) == (own.states, own.transitions)
        assert round_.graph.edges == own.transitions - (round_.setting.dropped_edges or 0)
    assert rounds[0].graph.edges < expected.rounds[0].transitions, "each edge once"
    assert min(each.cycles for each in rounds) > 0


def test_a_random_model() -> None:
    check(family("random", states=150, choices=2, transitions=2, seed=4))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("islands", {"islands": 2000}), ("grid", {"width": 100, "height": 100, "room": 50})],
)
def test_ten_thousand_states(name: str, sizes: dict[str, int]) -> None:
    check(family(name, on_step=None, **sizes))
