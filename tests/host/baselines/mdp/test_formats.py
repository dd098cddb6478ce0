"""Files of Markov decision processes, and of names and labels beside them: read, written, and refused in one line."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.baselines.mdp.families import family
from cyscc.host.baselines.mdp.formats import buffers, read_mdp, write_mdp
from cyscc.host.baselines.mdp.formats.annotations import files_beside, read_annotations
from cyscc.host.baselines.mdp.model import Mdp
from cyscc.host.graph import available_memory
from cyscc.host.graph.available_memory import AvailableMemory
from cyscc.host.output.errors import InputError
from tests.conftest import standard_input
from tests.host.baselines.mdp.models import SMALL, model
from tests.refusals import refused

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
def test_standard_input(text: str, packed: bool) -> None:
    with standard_input(gzip.compress(text.encode()) if packed else text.encode()):
        assert same(read_mdp("-"), BOTH)


WRITTEN = {
    **{f"lines of DRN end in {end!r}": ("a.drn", DRN.replace("\n", end).removesuffix(end)) for end in ("\r\n", "\r")},
    **{
        f"lines of {name} end in {end!r}": ("a.tra", end + text.replace("\n", end).rstrip())
        for end in ("\r\n", "\r", " \t\n\n")
        for name, text in (("transitions", TRA), ("choices", ROWS))
    },
    "comments": ("a.tra", "# a model\n#\n" + TRA.replace("1 0 1", "\n # 0 0 0 0\n#\n1 0 1")),
    "Storm's transitions": ("a.tra", "mdp\n" + TRA.partition("\n")[2]),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_ways_to_write_the_same(tmp_path: Path, how: str) -> None:
    assert same(read(tmp_path, *WRITTEN[how]), BOTH)


def test_transitions_in_any_order(tmp_path: Path) -> None:
    header, *lines = TRA.splitlines()
    assert same(read(tmp_path, "a.tra", "\n".join([header, *reversed(lines)])), model([[1, 0], [2]], [[2, 1]], [[2]]))


def test_header_of_drn_may_be_short(tmp_path: Path) -> None:
    text = "@type: mdp\n@nr_states\n1\n@model\nstate 0\naction 0\n0:1\n"
    assert same(read(tmp_path, "a.drn", text), model([[0]]))


PROBABILITIES = json.loads(Path(__file__).with_name("probabilities.json").read_text())
"""Probabilities of the transitions to states 0 and 1, and the states that are kept, those that are not 0."""


@pytest.mark.parametrize(("probabilities", "kept"), PROBABILITIES)
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


REFUSED = json.loads(Path(__file__).with_name("refused.json").read_text(encoding="utf-8"))
"""Refused texts of files by suffix, each with its message, which follows the file's name."""


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [(suffix, *each) for suffix in ("tra", "drn") for each in REFUSED[suffix].items()],
)
def test_bad_models(tmp_path: Path, suffix: str, text: str, message: str) -> None:
    file = tmp_path / f"bad.{suffix}"
    file.write_text(text)
    with refused(InputError, f"{file}{message}"):
        read_mdp(file)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.drn", b"%PDF-1.4", "a PDF document is not read"),
        ("a.tra.gz", b"1 1 1\n0 0 0 1\n", "not gzip data"),
        ("a.tra.gz", gzip.compress(b"1 1 1\n" * 1000, mtime=0)[:-9], "the gzip data is cut short"),
    ],
)
def test_bad_file(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with refused(InputError, f"{file}: {message}"):
        read_mdp(file)


def test_binary_content_is_shown_escaped(tmp_path: Path) -> None:
    file = tmp_path / "a.tra"
    file.write_bytes(b"1 1 1\n\x01\xff 0 0 1\n")
    with refused(InputError, f"{file}:2: '\\x01\N{REPLACEMENT CHARACTER}' is not a state"):
        read_mdp(file)


MECS = np.array([0, 0, -1])

LABELS = {
    '# Labels\n\n0="init" 7="dead lock"\n2: 7\n1: 0 7 7\n1: 0\n0:\n0: 0\n': {"init": 2, "dead lock": 1},
    "#DECLARATION\ninit a\n#END\n0 init a\r\n\n1 a": {"init": 1, "a": 2},
    '0="none"\n': {},
}


@pytest.mark.parametrize("text", LABELS)
def test_labels(tmp_path: Path, text: str) -> None:
    file = tmp_path / "m.lab"
    file.write_text(text)
    labels = read_annotations(None, file, 3).labels
    assert labels is not None
    assert labels.counts(MECS).get(0, {}) == LABELS[text]


STATES = [
    "(x,on)\n0:(-1,true)\n1:(2,false)\n2:(30,true)\n",
    "# States\n\n( x , on )\r\n2 : (30, true)\r\n \t\r\n0:(-1,true)\r\n#\r\n1:(2,false)",
]


@pytest.mark.parametrize("text", STATES)
def test_states(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.sta.gz").write_bytes(gzip.compress(text.encode()))
    beside = files_beside(tmp_path / "m.tra.gz")
    assert beside == (tmp_path / "m.sta.gz", None)
    names = read_annotations(*beside, 3).names
    assert names is not None
    assert names.of(np.array([2, 0])) == ["x=30, on=true", "x=-1, on=true"]


def test_states_without_variables(tmp_path: Path) -> None:
    file = tmp_path / "m.sta"
    file.write_text("()\n0:()\n")
    names = read_annotations(file, None, 1).names
    assert names is not None
    assert names.of(np.array([0])) == [""]


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [(suffix, *each) for suffix in ("sta", "lab") for each in REFUSED[suffix].items()],
)
def test_bad_annotations(tmp_path: Path, suffix: str, text: str, message: str) -> None:
    file = tmp_path / f"m.{suffix}"
    file.write_text(text)
    with refused(InputError, f"{file}{message}"):
        read_annotations(*files_beside(tmp_path / "m.tra"), 3)


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
def test_each_name_of_an_action_needs_memory_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "_CHECKED", 1_000_000)
    rows = "".join(f"{state} 0 0 1 {{}}\n" for state in range(7000))
    file = tmp_path / "names.tra"
    file.write_text(f"7000 7000 7000\n{rows.format(*['long'] * 7000)}")
    assert read_mdp(file).states == 7000
    file.write_text(f"7000 7000 7000\n{rows.format(*range(7000))}")
    with pytest.raises(
        InputError, match=r"the names of the actions need about 1\.1 MB of memory, and 1\.0 MB are left"
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
