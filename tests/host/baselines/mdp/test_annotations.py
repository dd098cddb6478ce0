"""Names and labels of states, from PRISM's files beside a model's transitions."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.baselines.mdp.formats.annotations import files_beside, read_annotations
from cyscc.host.output.errors import InputError
from tests.refusals import refused

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


HEAD = "expected the variables, '(NAME,NAME,...)', not "
DECLARED = """expected the labels, '0="NAME" 1="NAME" ...', not """
BAD = {
    ".sta": {
        "\n": ": has no line of variables",
        "0:(1)\n": f":1: {HEAD}'0:(1)'",
        "(x)\n0:(1)\n1:(1)\n": ": state 2 has no line",
        "(x)\n0:(1)\n2:(1)\n0:(2)\n": ":4: state 0 has two lines",
        "(x)\n" + "1:(1)\n" * 9: ":3: state 1 has two lines",
        "(x)\n3:(1)\n": ":2: state 3 is outside 0..2",
        "(x)\n99999999999999999999:(1)\n": ":2: state 99999999999999999999 is outside 0..2",
        "(x)\n-1:(1)\n": ":2: state -1 is negative",
        "(x)\n\ny:(1)\n": ":3: 'y' is not a state",
        "(x)\n0:(1,2)\n": ":2: 2 values, and there are 1 variable",
        "(x)\n0:()\n": ":2: 0 values, and there are 1 variable",
        "(x)\n0:(1\n": ":2: expected 'STATE:(VALUES)', not '0:(1'",
        "(x)\n0:(\0)\n": ":2: expected 'STATE:(VALUES)', not '0:(\\x00)'",
    },
    ".lab": {
        "\n": ": has no line of labels",
        "0: 0\n": f":1: {DECLARED}'0: 0'",
        '0="a" 1\n': f""":1: {DECLARED}'0="a" 1'""",
        '0="a" 0="b"\n': ":1: label '0' is declared twice",
        "#DECLARATION\na\n": ": has no line '#END'",
        '0="a"\n3: 0\n': ":2: state 3 is outside 0..2",
        '0="a"\n0: 0\n\n1: 0 1\n': ":4: '1' is no label of the header",
        '0="a"\n0: \xff\n': ":2: 'ÿ' is no label of the header",
        '0="a"\nx: 0\n': ":2: 'x' is not a state",
        '0="a"\n: 0\n': ":2: '' is not a state",
        '0="a"\n0:0\n': ":2: expected 'STATE: LABEL...', not '0:0'",
    },
}


@pytest.mark.parametrize(
    ("suffix", "text", "message"), [(suffix, *each) for suffix, cases in BAD.items() for each in cases.items()]
)
def test_bad_text(tmp_path: Path, suffix: str, text: str, message: str) -> None:
    file = tmp_path / f"m{suffix}"
    file.write_text(text)
    with refused(InputError, f"{file}{message}"):
        read_annotations(*files_beside(tmp_path / "m.tra"), 3)
