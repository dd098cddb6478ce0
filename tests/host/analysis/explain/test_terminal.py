"""Explanations on terminals: bars add up, letters and colours distinguish causes, lines fit."""

import re

import pytest
from rich.text import Text

from cyscc.host.analysis.explain.terminal import (
    LETTERS,
    Bar,
    Cell,
    as_html,
    as_text,
    bar,
    letter,
    rendered,
    section,
    table,
)
from cyscc.host.record.colours import CAUSE_COLOURS, STACK


def test_every_cause_has_a_letter_of_its_own() -> None:
    assert set(LETTERS) == set(STACK)
    assert len(set(LETTERS.values())) == len(LETTERS)


@pytest.mark.parametrize("width", [8, 13, 40])
def test_a_bar_is_as_long_as_it_shall_be(width: int) -> None:
    stack = {name: float(place % 5) for place, name in enumerate(STACK)}
    text = bar(stack, width).plain
    assert len(text) == width
    order = [LETTERS[name] for name in STACK]
    assert [order.index(letter) for letter in text] == sorted(order.index(letter) for letter in text)


def test_a_bar_shows_shares() -> None:
    assert bar({"issue_1": 10.0, "refused": 20.0, "no_work": 10.0}, 8).plain == "11xxxx.."
    assert bar({"issue_1": 0.0}, 8).plain == ""


def test_colours_are_those_of_the_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    text = as_text([bar({"refused": 1.0}, 4)], width=40, colours=True)
    assert "xxxx" in text
    assert "\x1b[" in text
    assert as_text([bar({"refused": 1.0}, 4)], width=40) == "xxxx\n"
    assert f"background-color: {CAUSE_COLOURS['refused']}" in as_html([bar({"refused": 1.0}, 4)], width=40)


@pytest.mark.parametrize("width", [40, 60, 120])
def test_lines_fit_and_numbers_are_never_cut(width: int) -> None:
    rows: list[list[Cell]] = [
        ["level", "1,234,567", Bar({"response": 1.0})],
        ["x", "89", Bar({"refused": 3.0, "host": 1.0})],
    ]
    text = as_text(section("title", table(["name", "cycles", "stack"], rows, last=True)), width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert lines[1] == "title"
    assert re.fullmatch(r"  level  1,234,567  r+", lines[3])
    assert len(lines[3].split()[2]) == min(40, width - 20)


def test_a_section_is_a_title_and_what_it_shows_below() -> None:
    assert as_text(section("title", Text("part"), Text("other")), width=40) == "\ntitle\n  part\n  other\n"


def test_long_words_take_further_lines() -> None:
    rows: list[list[Cell]] = [["a", "many words that do not fit into one line"]]
    text = as_text([table(["name", "why"], rows, last=True), Text("and so on " * 9)], width=30)
    assert max(map(len, text.splitlines())) <= 30
    assert "".join(text.split()).endswith("andsoon" * 9)


def test_pages_are_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Text("word " * 300)
    for columns, width in (("", 120), ("88", 88), ("7", 40), ("9" * 30, 1000)):
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setattr("sys.__stdout__", None)
        # As many words as there is room for, and none after the last.
        assert max(map(len, rendered([words]).splitlines())) == (width + 1) // 5 * 5 - 1


def test_letters_are_readable_on_their_colour() -> None:
    dark = {name: letter(name).style for name in STACK}
    for name, style in dark.items():
        red, green, blue = bytes.fromhex(CAUSE_COLOURS[name][1:])
        white = 0.299 * red + 0.587 * green + 0.114 * blue < 110
        assert style == f"{'white' if white else 'black'} on {CAUSE_COLOURS[name]}"
