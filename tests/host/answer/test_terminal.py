"""Answers on terminals: bars add up, letters and colours distinguish causes, lines fit."""

import re

import pandas as pd
import pytest

from cyscc.host.answer.answer import STACK_FORM, Answer, Column, Table
from cyscc.host.answer.colours import CAUSE_COLOURS, STACK
from cyscc.host.answer.terminal import coloured
from cyscc.host.answer.text import LETTERS, as_text, letters, terminal_width


def bar(stack: dict[str, float], width: int) -> str:
    return "".join(words for words, _ in letters(stack, width))


def test_every_cause_has_a_letter_of_its_own() -> None:
    assert set(LETTERS) == set(STACK)
    assert len(set(LETTERS.values())) == len(LETTERS)


@pytest.mark.parametrize("width", [8, 13, 40])
def test_a_bar_is_as_long_as_it_shall_be(width: int) -> None:
    text = bar({name: float(place % 5) for place, name in enumerate(STACK)}, width)
    assert len(text) == width
    order = [LETTERS[name] for name in STACK]
    assert [order.index(letter) for letter in text] == sorted(order.index(letter) for letter in text)


def test_a_bar_shows_shares() -> None:
    assert bar({"issue_1": 10.0, "refused": 20.0, "no_work": 10.0}, 8) == "11xxxx.."
    assert bar({"issue_1": 0.0}, 8) == ""


@pytest.mark.parametrize("width", [40, 60, 120])
def test_lines_fit_and_numbers_are_never_cut(width: int) -> None:
    frame = pd.DataFrame({"name": ["level", "x"], "cycles": [1234567, 89], "why": ["many words " * 9, ""], "host": 1})
    shown: dict[str, Column | str] = {"name": "{}", "cycles": "{:,}", "stack": Column(form=STACK_FORM), "why": "{}"}
    answer = Answer(title="words " * 30, tables={"a": Table(title="table", frame=frame, columns=shown)})
    lines = as_text(answer, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert any(re.match(r"  level  1,234,567  h+  many words", line) for line in lines)


def test_texts_are_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.__stdout__", None)
        for columns, width in (("", 120), ("88", 88), ("7", 40), ("9" * 30, 1000)):
            patch.setenv("COLUMNS", columns)
            assert terminal_width() == width


def _told(text: str) -> dict[str, str]:
    """Return the escape sequence before each letter of a coloured text."""
    return {letter: codes for codes, letter in re.findall("\x1b\\[([0-9;]+)m(.)", text)}


@pytest.mark.parametrize("term", ["xterm", "xterm-256color"])
def test_every_two_causes_differ_on_terminals_of_few_colours(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("COLORTERM", raising=False)
    found = _told(coloured([[(LETTERS[name], name)] for name in STACK]))
    assert len(found) == len(STACK)
    backgrounds = {codes.split(";", 1)[1] for codes in found.values()}
    # Causes that have none of the 16 colours to themselves differ from others in their letters alone.
    assert len(backgrounds) == (len(STACK) if "256" in term else min(len(STACK), 16))


def test_letters_are_readable_on_their_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    found = _told(coloured([[(LETTERS[name], name)] for name in STACK]))
    for name in STACK:
        red, green, blue = bytes.fromhex(CAUSE_COLOURS[name][1:])
        ink = "97" if 0.299 * red + 0.587 * green + 0.114 * blue < 110 else "30"
        assert found[LETTERS[name]].startswith(f"{ink};48;")
