"""Answers on terminals: widths, folding of lines, and colours that can be told apart."""

import re
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from cyscc.host.answer.answer import STACK_FORM, Answer, Column, Table
from cyscc.host.answer.colours import ARRAY_COLOURS, CAUSE_COLOURS, CAUSE_FAMILIES, PHASE_COLOURS, STACK
from cyscc.host.answer.terminal import coloured
from cyscc.host.answer.text import LETTERS, as_text, letters, terminal_width
from cyscc.host.record.tables import ARRAYS, PHASES
from cyscc.sim.observation.causes import CAUSES, cause_named


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


# What the eye makes of linear red, green and blue (Machado, Oliveira, Fernandes 2009, severity 1).
VISIONS = {
    "all": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(colour: str, vision: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return a colour in CIELAB, as a vision has it."""
    values = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(vision @ linear, 0, 1) / (TO_XYZ @ np.ones(3))
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one: npt.NDArray[np.float64], two: npt.NDArray[np.float64]) -> float:
    """Return the difference of two colours of CIELAB by CIEDE2000."""
    (first, a1, b1), (second, a2, b2) = one, two
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25**7))
    chromas = np.hypot([stretch * a1, stretch * a2], [b1, b2])
    hues = np.degrees(np.arctan2([b1, b2], [stretch * a1, stretch * a2]))
    turn = (hues[1] - hues[0] + 180) % 360 - 180
    hue, light, chroma = hues[0] + turn / 2, (first + second) / 2, chromas.mean()
    waves = ((1, -30, -0.17), (2, 0, 0.24), (3, 6, 0.32), (4, -63, -0.2))
    weight = 1 + sum(share * np.cos(np.radians(times * hue + shift)) for times, shift, share in waves)
    of_light = (second - first) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    of_chroma = (chromas[1] - chromas[0]) / (1 + 0.045 * chroma)
    of_hue = 2 * np.sqrt(chromas.prod()) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * weight)
    rotation = np.exp(-((((hue % 360) - 275) / 25) ** 2))
    mixed = -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7)) * np.sin(np.radians(60 * rotation))
    return float(np.sqrt(of_light**2 + of_chroma**2 + of_hue**2 + mixed * of_chroma * of_hue))


def closest(colours: Iterable[str], vision: str) -> float:
    """Return the least difference of two of the colours, as a vision has them."""
    lab = [seen(colour, VISIONS[vision]) for colour in colours]
    return min(difference(one, two) for one, two in combinations(lab, 2))


def test_the_difference_of_colours_is_that_of_its_definition() -> None:
    # Pairs of Sharma, Wu, Dalal (2005), table 1.
    for one, two, expected in (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ):
        assert difference(np.array(one), np.array(two)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("vision", VISIONS)
def test_every_two_causes_differ_for_every_eye(vision: str) -> None:
    assert closest(CAUSE_COLOURS.values(), vision) > 12
    reserved = [colour for family in CAUSE_FAMILIES.values() for colour in family]
    assert closest(reserved, vision) > 6


@pytest.mark.parametrize("colours", [ARRAY_COLOURS, PHASE_COLOURS], ids=["arrays", "phases"])
def test_arrays_and_phases_differ(colours: dict[str, str]) -> None:
    assert closest(colours.values(), "all") > 12


def test_everything_has_a_colour() -> None:
    assert len(set(CAUSE_COLOURS.values())) == len(CAUSES)
    assert set(ARRAY_COLOURS) == set(ARRAYS)
    assert set(PHASE_COLOURS) == set(PHASES)


def test_a_stack_goes_from_work_to_what_is_outside() -> None:
    kinds = [cause_named(name).kind for name in STACK]
    assert kinds == sorted(kinds, key=["work", "limit", "idle", "outside"].index)
    assert len(set(STACK)) == len(CAUSES)
