"""Bad files of Markov decision processes: each ends in one line that names file, line and cause.

More of them are among the refusals of ``cyscc mec`` in `tests.system.outside`.
"""

import gzip
from pathlib import Path

import pytest

from cyscc.host.baselines.mdp.formats import read_mdp
from cyscc.host.output.errors import InputError
from tests.refusals import refused

FORM = "'SOURCE CHOICE TARGET PROBABILITY ACTION'"
HEADER = "expected the header 'STATES CHOICES TRANSITIONS'"

TRA = {
    "0 0 0 1\n": f":1: {HEADER}",
    "\n\n": f":2: {HEADER}",
    "\n \t\r\n1 1\n": f":3: {HEADER} of an MDP: two numbers begin a Markov chain",
    "\n1 1 1\n\n0 0 0 x\n": ":4: 'x' is not a probability",
    "dtmc\n0 0 1\n": ":1: expected a model of type 'mdp', not 'dtmc'",
    "1 1 x\n": ":1: 'x' is not a number of transitions",
    "1 -1 1\n": ":1: the number of choices, -1, is negative",
    "0 0 0\n": ":1: the model is empty: it has no states",
    "4294967295 1 1\n": ":1: 4294967295 states are too many for 32 bits (at most 4294967294)",
    "1 1 4294967296\n": ":1: 4294967296 transitions are too many for 32 bits (at most 4294967295)",
    "1 0 0\n": ": the model is empty: it has no transitions",
    "mdp\n": ": the model is empty: it has no transitions",
    "# no header\n": f":1: {HEADER}",
    "2 2 3 2\n0 0 0 0.5 1 a\n": f":1: {HEADER} of an MDP: four numbers begin a POMDP",
    "# a\n# b\n2 1\n0 1 1\n": f":3: {HEADER} of an MDP: two numbers begin a Markov chain",
    "# a\n1 1 1\n# b\n0 0 0 x\n": ":4: 'x' is not a probability",
    "1 1 1\n0 0\n": f":2: too few columns for {FORM}",
    "1 1 1\n0 0 0\n": f":2: too few columns for {FORM}",
    "1 1 1\n0 0 0 1 a b\n": f":2: too many columns for {FORM}, from 'b' on",
    "1 1 1\nx 0 0 1\n": ":2: 'x' is not a state",
    "1 1 1\n-1 0 0 1\n": ":2: state -1 is negative",
    "1 1 1\n0 0.5 0 1\n": ":2: '0.5' is not a choice",
    "1 1 1\n0 4294967296 0 1\n": ":2: choice 4294967296 is outside 0..4294967295",
    "1 1 1\n99999999999999999999999 0 0 1\n": ":2: state 99999999999999999999999 is outside 0..0",
    "1 2 3\n0 0 0 1\n0 1 0 0.5\n0 1 0 0.50002\n": (
        ":3: the probabilities of choice 1 of state 0 sum to 1.00002, not to 1 within 1e-05"
    ),
    "1 1 1\n0 0 0 0\n": ":2: the probabilities of choice 0 of state 0 sum to 0, not to 1 within 1e-05",
    "3 2 2\n0 0 0 1\n2 0 0 1\n": ":3: state 1 has no choices",
    "2 1 1\n1 0 0 1\n": ":2: state 0 has no choices",
    "4294967294 1 1\n0 0 0 1\n": ": state 1 has no choices",
    "mdp\n0 0 1 1\n": ": state 1 has no choices",
    "1 2 2\n0 0 0 1\n0 2 0 1\n": ":3: choice 1 of state 0 has no transitions",
    "1 1 2\n0 0 0 1\n0 1 0 1\n": ": the header announces 1 choices, but there are 2",
}

NO_NUMBERS = ["nan", "inf", "1e", ".", "1..0", "1/", "1/0", "1/-1", "[0.9,1]"]
OUTSIDE = ["-1", "1.1", "1e999999999999999999999"]
TRA |= {f"1 1 1\n0 0 0 {token}\n": f":2: {token!r} is not a probability" for token in (*NO_NUMBERS, *OUTSIDE)}

ROW = "'SOURCE PROBABILITY:TARGET... ACTION'"
ROWS = {
    "0 1:0\n0\n": f":3: too few columns for {ROW}",
    "0 1:0\nx 1:0\n": ":3: 'x' is not a state",
    "0 1:0\n2 1:0\n": ":3: state 2 is outside 0..1",
    "0 1:2\n": ":2: state 2 is outside 0..1",
    "0 1:18446744073709551616\n": ":2: state 18446744073709551616 is outside 0..1",
    "0 1:-1\n": ":2: state -1 is negative",
    "0 1:\n": ":2: '' is not a state",
    "0 :1\n": ":2: '' is not a probability",
    "\n0 x:1 a\n": ":3: 'x' is not a probability",
    "0 2:1\n": ":2: '2' is not a probability",
    "0 0.5:0 a 0.5:1\n": ":2: expected 'PROBABILITY:TARGET', not 'a'",
    "0 1:0 a b\n": ":2: expected 'PROBABILITY:TARGET', not 'a'",
    "0 1:0 a:b\n": ":2: 'a' is not a probability",
    "0 1:0\n\xff 1:0\n": ":3: 'ÿ' is not a state",
    "0 1:0\n1 0.5:0 0.5:1 a\n1 1:0 1:0\n": ":4: a transition beyond the 4 that the header announces",
    "0 1:0\n1 1:1\n": ": the header announces 4 transitions, but only 2 follow",
    "0 0.5:0 0.4:1\n0 1:0\n1 1:0\n": (":2: the probabilities of choice 0 of state 0 sum to 0.9, not to 1 within 1e-05"),
    "0 0.5:0 0.5:1\n0 .5:0 .5:1\n": ": state 1 has no choices",
    "1 1:0\n1 1:0\n1 0.5:0 0.5:1\n": ":2: state 0 has no choices",
    "0 1:0\n1 1:0\n1 1:0\n1 1:0\n": ": the header announces 3 choices, but there are 4",
    "0 1:0\n0 0 1 1\n": ":3: expected 'PROBABILITY:TARGET', not '0'",
}
"""Lines of choices below a header of 2 states, 3 choices, and 4 transitions."""
TRA |= {"2 3 4\n" + rows: message for rows, message in ROWS.items()}

START = "@type: MDP\n@nr_states\n2\n@nr_choices\n2\n@model\n"
DRN = {
    "@nr_states\n1\n@model\n": ":3: has no line '@type: MDP' before '@model'",
    "@type: MDP\n@nr_states\n": ":2: the header is cut short: nothing follows @nr_states",
    "@type: MDP\n@nr_states\n1 2\n": ":3: expected the number of states",
    "@type: MDP\n@nr_choices\nx\n": ":3: 'x' is not a number of choices",
    "@type: MDP\n@nr_states\n4294967295\n": ":2: 4294967295 states are too many for 32 bits (at most 4294967294)",
    "@type: MDP\n@nr_states\n0\n@model\n": ": the model is empty: it has no states",
    "@type: MDP\n@value_type: double-interval\n": (
        ":2: expected values of type 'double' or 'rational', not 'double-interval'"
    ),
    START + "\taction 0\n": ":7: an action before the first state",
    START + "\t0 : 1\n": ":7: expected 'action NAME' before the transition, not '0'",
    START + "state 0\n\t0 : 1\n": ":8: expected 'action NAME' before the transition, not '0'",
    START + "state x\n": ":7: 'x' is not a state",
    START + "state\n": ":7: '' is not a state",
    START + "state 1\n": ":7: expected state 0, not '1'",
    START + "state 0\nstate 1\n": ":8: state 0 has no choices",
    START + "state 0\naction a\naction b\n": ":9: choice 0 of state 0 has no transitions",
    START + "state 0\naction a\n0 : 1\naction b\nstate 1\n": ":11: choice 1 of state 0 has no transitions",
    START + "state 0\naction a\n0 : 1\nstate 1\naction a\n": ": choice 0 of state 1 has no transitions",
    START + "state 0\naction a\n0 : 1\nstate 1\n": ": state 1 has no choices",
    START + "state 0\naction a\n0 : 1\n": ": the header announces 2 states, but only 1 follow",
    START: ": the header announces 2 states, but only 0 follow",
    START + "state 0\naction a\n0 : 1\nstate 1\naction a\n0 : 1\nstate 2\n": (
        ":13: a state beyond the 2 that the header announces"
    ),
    START + "state 0\naction a\n2 : 1\n": ":9: state 2 is outside 0..1",
    START + "state 0\naction a\n0 1\n": ":9: expected 'TARGET : PROBABILITY', not '0 1'",
    START + "state 0\naction a\nx : 1\n": ":9: 'x' is not a state",
    START + "state 0\naction a\n0 : p\n": ":9: 'p' is not a probability",
    START + "state 0\naction a\n0 : \n": ":9: '' is not a probability",
    START + "state 0\naction a\n0 : 1 2\n": ":9: too many columns for 'TARGET : PROBABILITY', from '2' on",
    START + "state 0\naction a\n0 : .9\nstate 1\naction a\n0 : 1\n": (
        ":9: the probabilities of choice 0 of state 0 sum to 0.9, not to 1 within 1e-05"
    ),
    START + "state 0\naction a\n0 : 1\naction b\n0 : 1\nstate 1\naction a\n0 : 1\n": (
        ": the header announces 2 choices, but there are 3"
    ),
}


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [(suffix, *each) for suffix, cases in (("tra", TRA), ("drn", DRN)) for each in cases.items()],
)
def test_bad_text(tmp_path: Path, suffix: str, text: str, message: str) -> None:
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


def test_folder(tmp_path: Path) -> None:
    folder = tmp_path / "b.tra"
    folder.mkdir()
    with refused(InputError, f"{folder}: is a directory, not a model"):
        read_mdp(folder)


def test_binary_content_is_shown_escaped(tmp_path: Path) -> None:
    file = tmp_path / "a.tra"
    file.write_bytes(b"1 1 1\n\x01\xff 0 0 1\n")
    with refused(InputError, f"{file}:2: '\\x01\N{REPLACEMENT CHARACTER}' is not a state"):
        read_mdp(file)
