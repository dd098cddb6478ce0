"""Models that do not fit in memory are refused as they grow, before they take it."""

from pathlib import Path

import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.formats import read_mdp, write_mdp
from cyscc.host.graph import available_memory
from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.host.output.errors import InputError
from tests.refusals import refused


@pytest.fixture
def small_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the memory to 1 MB, checked after every thousand transitions."""
    monkeypatch.setattr(available_memory, "available_memory", lambda: AvailableMemory(1_000_000, "control group"))
    monkeypatch.setattr(available_memory, "_CHECKED", 1000)


def test_reading(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    file = tmp_path / "stairs.tra"
    write_mdp(family("stairs", steps=300_000), file)
    request.getfixturevalue("small_room")
    with pytest.raises(
        InputError,
        match=rf"^{file}: the first [\d,]+ transitions need about [\d.]+ MB of memory, and 1.0 MB are left \(control",
    ):
        read_mdp(file)


@pytest.mark.usefixtures("small_room")
def test_a_family_is_judged_by_its_sizes() -> None:
    with refused(
        InputError, "stairs models of this size need about 1.8 MB of memory, and 1.0 MB are left (control group)"
    ):
        family("stairs", steps=50_000)


@pytest.mark.usefixtures("small_room")
def test_a_small_model_fits(tmp_path: Path) -> None:
    file = tmp_path / "stairs.drn"
    write_mdp(family("stairs", steps=5000), file)
    assert read_mdp(file).states == 5000
