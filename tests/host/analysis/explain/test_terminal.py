"""Explanations on terminals: bars add up, letters and colours distinguish causes, lines fit."""

import re

import pytest
from rich.text import Text

from cyscc.host.analysis.explain.terminal import (
    LETTERS,
    Bar,
    Cell,
    Noted,
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


def test_notes_are_below_their_rows_on_narrow_terminals() -> None:
    rows: list[list[Cell]] = [["a", "1", Bar({"slot": 1.0}), "why it is so"], ["b", "2", Bar({"slot": 1.0}), ""]]
    noted = Noted(["name", "cycles", "stack", "bound by"], rows)
    assert as_text([noted], width=60).splitlines()[1:] == [
        f"a          1  {'s' * 40}",
        "    why it is so",
        f"b          2  {'s' * 40}",
    ]
    head, first, second = as_text([noted], width=120).splitlines()
    assert head.split() == ["name", "cycles", "stack", "bound", "by"]
    assert first.endswith("s  why it is so")
    assert second.endswith("s")


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


def _told(text: str) -> dict[str, str]:
    """Return the escape sequence before each letter of a coloured text."""
    return {letter: codes for codes, letter in re.findall("\x1b\\[([0-9;]+)m(.)", text)}


@pytest.mark.parametrize("term", ["xterm", "xterm-256color"])
def test_every_two_causes_differ_on_terminals_of_few_colours(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("COLORTERM", raising=False)
    found = _told(as_text([letter(name) for name in STACK], width=40, colours=True))
    assert len(found) == len(STACK)
    backgrounds = {codes.split(";", 1)[1] for codes in found.values()}
    # Causes that have none of the 16 colours to themselves differ from others in their letters alone.
    assert len(backgrounds) == (len(STACK) if "256" in term else min(len(STACK), 16))


def test_letters_are_readable_on_their_colour() -> None:
    shown = as_html([letter(name) for name in STACK], width=40)
    for name in STACK:
        red, green, blue = bytes.fromhex(CAUSE_COLOURS[name][1:])
        white = 0.299 * red + 0.587 * green + 0.114 * blue < 110
        ink = "#ffffff" if white else "#000000"
        assert f"color: {ink}; text-decoration-color: {ink}; background-color: {CAUSE_COLOURS[name]}" in shown, name
