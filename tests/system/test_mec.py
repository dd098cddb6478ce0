"""Maximal end components with the accelerator: those of the processor, cycles by round."""

import numpy as np
import pytest

from host.algorithms.mec.basic import basic
from host.algorithms.mec.checker import check_mecs
from host.mdp.families import family
from host.mdp.model import Mdp
from host.progress import Progress
from host.runs.mec import AcceleratedMecs, run_accelerated_mec
from host.runs.specification import RunSpec


def accelerated(mdp: Mdp) -> AcceleratedMecs:
    spec = RunSpec(algorithm="scc", graph="model", config="test", threads=1)
    return run_accelerated_mec(mdp, spec, Progress(quiet=True))


def check(mdp: Mdp) -> AcceleratedMecs:
    result = accelerated(mdp)
    assert check_mecs(mdp, result.found.mecs) is None
    expected = basic(mdp)
    assert np.array_equal(result.found.mecs, expected.mecs)
    assert result.found.rounds == expected.rounds
    assert len(result.rounds) == len(expected.rounds) > 1
    assert all(each.verified for each in result.rounds)
    for round_, own in zip(result.rounds, expected.rounds, strict=True):
        assert round_.run.components == own.components
        assert (round_.graph.vertices, round_.setting.edges) == (own.states, own.transitions)
        assert round_.graph.edges == own.transitions - (round_.setting.dropped_edges or 0)
    assert result.rounds[0].graph.edges < expected.rounds[0].transitions, "each edge once"
    cycles = [each.run.cycles for each in result.rounds]
    assert min(cycles) > 0
    assert result.cycles == sum(cycles)
    assert result.seconds == pytest.approx(sum(cycles) / 150e6)
    return result


def test_a_random_model() -> None:
    check(family("random", states=150, choices=2, transitions=2, seed=4))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("islands", {"islands": 2000}), ("grid", {"width": 100, "height": 100, "room": 50})],
)
def test_ten_thousand_states(name: str, sizes: dict[str, int]) -> None:
    check(family(name, on_step=None, **sizes))
