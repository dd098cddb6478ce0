"""Storm finds the same maximal end components, in models that it reads from files written here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cyscc.host.baselines.algorithms import MEC_KINDS
from cyscc.host.baselines.devices import open_device
from cyscc.host.baselines.mdp.families import FAMILIES, family
from cyscc.host.baselines.mdp.formats import read_mdp, write_mdp
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.baselines.mec.checker import check_mecs, reference_mecs
from cyscc.host.baselines.software.decomposition import SoftwareSetting
from tests.host.baselines.mdp.models import SMALL

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def storm() -> Any:
    """Storm's Python interface, where it is installed."""
    return pytest.importorskip("stormpy")


def agrees(storm: Any, mdp: Mdp, file: Path) -> bool:
    """Whether Storm reads as many states, choices and transitions, and finds what each algorithm here finds."""
    write_mdp(mdp, file)
    model = storm.build_model_from_drn(str(file))
    assert (model.nr_states, model.nr_choices, model.nr_transitions) == (
        mdp.states,
        mdp.choice_count,
        mdp.transition_count,
    )
    mecs = np.full(mdp.states, -1, np.int64)
    for component in storm.analysis.get_maximal_end_components(model):
        states = [state for state, _ in component]
        mecs[states] = min(states)
    assert check_mecs(mdp, mecs) is None
    with open_device("cpu", threads=2) as device:
        setting = SoftwareSetting(device=device)
        found = [kind.load()(mdp, setting).mecs for kind in MEC_KINDS.values()]
    return all(np.array_equal(mecs, each) for each in (*found, reference_mecs(mdp)))


@pytest.mark.parametrize("name", sorted(SMALL.keys() - {"a target named twice"}))
def test_small_models(storm: Any, tmp_path: Path, name: str) -> None:
    assert agrees(storm, SMALL[name][0], tmp_path / "model.drn")


LARGER: dict[str, dict[str, Any]] = {
    "philosophers": {"philosophers": 5},
    "coin": {"processes": 4},
    "leader": {"processes": 6},
    "grid": {"width": 100, "height": 90, "room": 7},
    "islands": {"islands": 2000},
    "stairs": {"steps": 500},
    "random": {"states": 20_000, "choices": 2, "transitions": 2},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_families(storm: Any, tmp_path: Path, name: str) -> None:
    assert agrees(storm, family(name), tmp_path / "model.drn")
    assert agrees(storm, family(name, **LARGER[name]), tmp_path / "model.drn")


def test_random_models(storm: Any, tmp_path: Path) -> None:
    for seed in range(500):
        states, choices, transitions = 2 + seed % 29, 1 + seed % 4, 1 + seed % 3
        mdp = family("random", states=states, choices=choices, transitions=transitions, seed=seed)
        assert agrees(storm, mdp, tmp_path / "model.drn"), seed


def test_storms_own_files_are_read(storm: Any, tmp_path: Path) -> None:
    mdp = family("philosophers", philosophers=3)
    write_mdp(mdp, tmp_path / "ours.drn")
    model = storm.build_model_from_drn(str(tmp_path / "ours.drn"))
    storm.io.export_to_drn(model, str(tmp_path / "theirs.drn"))
    again = read_mdp(tmp_path / "theirs.drn")
    assert np.array_equal(again.choices, mdp.choices)
    assert np.array_equal(again.transitions, mdp.transitions)
    assert np.array_equal(reference_mecs(again), reference_mecs(mdp))
