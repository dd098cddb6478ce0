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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["grid", "5", "-o", "m.tra"], "argument SIZE=N: '5' is not SIZE=N"),
        (["grid", "room=x", "-o", "m.tra"], "argument SIZE=N: 'x' is not an integer"),
        (["grid", "depth=5", "-o", "m.tra"], "grid has no size 'depth': it has width, height, room"),
        (["grid", "room=1", "-o", "m.tra"], "room of grid must be 3 to 1048576, not 1"),
        (["grid", "room=3", "room=4", "-o", "m.tra"], "SIZE=N: room is given twice"),
        (
            ["grid", "-o", "m.gr"],
            "m.gr: a model is .tra or .drn, not '.gr'",
        ),
        (["grid", "-o", "no/m.tra"], "no/m.tra: its directory does not exist (--output)"),
        (["grid"], "the following arguments are required: -o/--output"),
    ],
)
def test_bad_usage(capfd: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    before = sorted(Path().iterdir())
    assert main(["model", *words]) == 2
    assert capfd.readouterr() == ("", f"cyscc model: {message}\n")
    assert sorted(Path().iterdir()) == before


def test_misspelt_family(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "gird", "-o", "m.tra"]) == 2
    out, error = capfd.readouterr()
    assert out == ""
    assert error.startswith("cyscc model: argument FAMILY: invalid choice: 'gird'")
    assert error.endswith("; did you mean grid?\n")
