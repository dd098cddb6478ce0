"""The form of error lines."""

import pytest

from cyscc.host.output.errors import InputError
from cyscc.sim.notices import LONGEST_LINE, error_line, shortened


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [("", 3, ""), ("abcdef", 6, "abcdef"), ("abcdefg", 6, "ab...g"), ("abcdefgh", 7, "ab...gh"), ("abcd", 3, "...")],
)
def test_shortened(text: str, most: int, expected: str) -> None:
    assert shortened(text, most) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g.txt:2: 'x' is wrong", "g.txt:2: 'x' is wrong"),
        ("a \n b\tc ", "a b c"),
        ("g\x1b[31m.txt\x00: \x7f é → \udcff", r"g\x1b[31m.txt\x00: \x7f é → \udcff"),
    ],
)
def test_error_line(text: str, expected: str) -> None:
    assert error_line(text) == expected


def test_a_long_name_is_cut_in_the_middle() -> None:
    line = error_line(f"cyscc scc: {'d/' * 200}g.txt: is empty")
    assert line == f"cyscc scc: {'d/' * 19}d...{'d/' * 16}g.txt: is empty"


@pytest.mark.parametrize("text", ["x" * 5000, "x " * 5000, f"{'long word ' * 99}: what is wrong", "\x1b" * 3000])
def test_no_error_line_is_longer_than_a_screen(text: str) -> None:
    line = error_line(text)
    assert len(line) <= LONGEST_LINE
    assert "..." in line
    assert line[-1] == error_line(text[-9:])[-1]


def test_an_input_error_names_its_place() -> None:
    assert str(InputError("is wrong")) == "is wrong"
    assert str(InputError("is wrong", path="a\nb")) == r"a\nb: is wrong"
    assert str(InputError("is wrong", path="g.txt", line=3)) == "g.txt:3: is wrong"
