"""Files of Markov decision processes, read and written."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.formats import read_mdp, write_mdp
from cyscc.host.baselines.mdp.model import Mdp
from tests.host.baselines.mdp.models import SMALL, model

TRA = """3 4 6
0 0 0 0.5 a
0 0 1 0.5 a
0 1 2 1
1 0 1 .25
1 0 2 7.5e-1
2 0 2 1.0 end
"""
ROWS = """# Transitions

3 4 6
0 0.5:0 0.5:1 a
2 1.0:2 end

0 1:2
1 .25:1\t7.5e-1:2 \t
"""
DRN = """// Exported by storm
// Original model type: MDP
@type: MDP
@value_type: double
@parameters

@reward_models
time cost
@nr_states
3
@nr_choices
4
@model
state 0 [0, 1] init "a label"
//[x=1 & y=2]
\taction a [1]
\t\t0 : 0.5
\t\t1 : 1/2
\taction __NOLABEL__

\t\t2 : 1
state 1
\taction 0
\t\t1 : .25
\t\t2 : 7.5e-1
state 2 done
\taction 0
\t\t2 : 1.0
"""
BOTH = model([[0, 1], [2]], [[1, 2]], [[2]])


def same(mdp: Mdp, other: Mdp) -> bool:
    names = ("choices", "transitions", "targets")
    pairs = [(getattr(mdp, name), getattr(other, name)) for name in names]
    return all(one.dtype == two.dtype and np.array_equal(one, two) for one, two in pairs)


def read(folder: Path, name: str, text: str) -> Mdp:
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_mdp(file)


@pytest.mark.parametrize(
    ("name", "text"), [("a.tra", TRA), ("a.tra", ROWS), ("a.TRA.gz", TRA), ("a.drn", DRN), ("a.drn.gz", DRN)]
)
def test_formats(tmp_path: Path, name: str, text: str) -> None:
    mdp = read(tmp_path, name, text)
    assert same(mdp, BOTH)
    assert mdp.actions is not None
    assert mdp.actions.of(np.arange(4)) == ["a", None, None, None if "drn" in name else "end"]


def test_names_of_actions(tmp_path: Path) -> None:
    # A name that looks like a number, which is its first transition's.
    mdp = read(tmp_path, "a.tra", "1 3 4\n0 0 0 0.5 7\n0 0 0 0.5 8\n0 1 0 1\n0 2 0 1 \xe4\n")
    assert mdp.actions is not None
    assert mdp.actions.of(np.arange(3)) == ["7", None, "ä"]
    assert read(tmp_path, "b.tra", "1 1 1\n0 0 0 1\n").actions is None


@pytest.mark.parametrize(("text", "packed"), [(TRA, False), (ROWS, True), (DRN, False), (DRN, True)])
def test_standard_input(tmp_path: Path, text: str, packed: bool) -> None:
    file = tmp_path / "given"
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    before = os.dup(0)
    try:
        with file.open("rb") as stream:
            os.dup2(stream.fileno(), 0)
        assert same(read_mdp("-"), BOTH)
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_drn(tmp_path: Path, end: str) -> None:
    assert same(read(tmp_path, "a.drn", DRN.replace("\n", end).removesuffix(end)), BOTH)


@pytest.mark.parametrize("end", ["\r\n", "\r", " \t\n\n"])
def test_line_ends(tmp_path: Path, end: str) -> None:
    for text in (TRA, ROWS):
        assert same(read(tmp_path, "a.tra", end + text.replace("\n", end).rstrip()), BOTH)


def test_comments(tmp_path: Path) -> None:
    text = "# a model\n#\n" + TRA.replace("1 0 1", "\n # 0 0 0 0\n#\n1 0 1")
    assert same(read(tmp_path, "a.tra", text), BOTH)


def test_storms_transitions(tmp_path: Path) -> None:
    assert same(read(tmp_path, "a.tra", "mdp\n" + TRA.partition("\n")[2]), BOTH)


def test_transitions_in_any_order(tmp_path: Path) -> None:
    header, *lines = TRA.splitlines()
    assert same(read(tmp_path, "a.tra", "\n".join([header, *reversed(lines)])), model([[1, 0], [2]], [[2, 1]], [[2]]))


def test_header_of_drn_may_be_short(tmp_path: Path) -> None:
    text = "@type: mdp\n@nr_states\n1\n@model\nstate 0\naction 0\n0:1\n"
    assert same(read(tmp_path, "a.drn", text), model([[0]]))


@pytest.mark.parametrize(
    ("probabilities", "kept"),
    [
        (("0", "1"), [1]),
        (("0.0e9", "1"), [1]),
        (("-0", "1"), [1]),
        (("1e-400", "1"), [0, 1]),
        (("0." + "0" * 500 + "1", "1"), [0, 1]),
        (("1e-99999999999999999999999", "1"), [0, 1]),
        (("0e99999999999999999999999", "1"), [1]),
        (("1/3", "2/3"), [0, 1]),
        (("0/3", "3/3"), [1]),
        (("1152921504606847/1152921504606846976", "1151768583102240129/1152921504606846976"), [0, 1]),
        (("5" + "0" * 298 + "/1" + "0" * 299, "1/2"), [0, 1]),
        (("+5e-1", "50000000000000000000000000000e-29"), [0, 1]),
        (("0.3333333333333333333333333333", ".6666666666666666666666666667"), [0, 1]),
        (("0.500009", "0.5"), [0, 1]),
        (("0.499991", "0.5"), [0, 1]),
        (("0", "1.0000000001"), [1]),
    ],
)
def test_probabilities(tmp_path: Path, probabilities: tuple[str, str], kept: list[int]) -> None:
    first, second = probabilities
    text = f"2 2 3\n0 0 0 {first}\n0 0 1 {second}\n1 0 1 1\n"
    assert read(tmp_path, "a.tra", text).targets.tolist() == [*kept, 1]


@pytest.mark.parametrize("suffix", ["tra", "drn", "tra.gz"])
@pytest.mark.parametrize("name", [*SMALL, "random"])
def test_what_is_written_is_read(tmp_path: Path, suffix: str, name: str) -> None:
    # More states than are formatted at once.
    mdp = family("random", states=20_000, choices=2, transitions=3) if name == "random" else SMALL[name][0]
    file = tmp_path / f"model.{suffix}"
    write_mdp(mdp, file)
    assert same(read_mdp(file), mdp)


def test_text_that_is_written(tmp_path: Path) -> None:
    mdp = model([[0, 1, 2], [2]], [[1]], [[0, 2]])
    write_mdp(mdp, tmp_path / "a.tra")
    third = "0.3333333333333333"
    assert (tmp_path / "a.tra").read_text() == (
        f"3 4 7\n0 0 0 {third}\n0 0 1 {third}\n0 0 2 {third}\n0 1 2 1\n1 0 1 1\n2 0 0 0.5\n2 0 2 0.5\n"
    )
    write_mdp(mdp, tmp_path / "a.drn")
    assert (tmp_path / "a.drn").read_text() == (
        "@type: MDP\n@parameters\n\n@reward_models\n\n@nr_states\n3\n@nr_choices\n4\n@model\n"
        f"state 0 init\n\taction 0\n\t\t0 : {third}\n\t\t1 : {third}\n\t\t2 : {third}\n\taction 1\n\t\t2 : 1\n"
        "state 1\n\taction 0\n\t\t1 : 1\nstate 2\n\taction 0\n\t\t0 : 0.5\n\t\t2 : 0.5\n"
    )
