"""`cyscc model` as people run it."""

from pathlib import Path

import numpy as np
import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.formats import read_mdp
from cyscc.host.command_line.main import main


@pytest.mark.parametrize("name", ["m.tra", "m.drn", "m.drn.gz"])
def test_model(capfd: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["model", "grid", "width=2^3", "height=6", "room=3", "-o", name]) == 0
    mdp = family("grid", width=8, height=6, room=3)
    assert capfd.readouterr() == (f"{name}: 48 states, 192 choices, {mdp.transition_count} transitions\n", "")
    assert np.array_equal(read_mdp(name).targets, mdp.targets)


def test_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "stairs", "-o", "m.tra", "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert Path("m.tra").read_text().startswith("100 199 298\n0 0 0 1\n0 1 0 0.5\n")
