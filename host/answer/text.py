"""Answers as lines of text. Colours are those of a terminal; without them no library for terminals is imported."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TypeAlias

from cyscc.host.answer.answer import Answer, Grid
from cyscc.host.answer.colours import STACK
from cyscc.sim.notices import printable
from cyscc.sim.observation.causes import cause_named

Words: TypeAlias = list[tuple[str, str]]
"""A line: its words, each with its style: nothing, ``bold``, ``italic``, or the cause whose colours it has."""

LETTERS = {name: cause_named(name).letter for name in STACK}
"""Letter of each cause in a bar, in the order of a stack."""

_INDENT, _GAP = 2, 2
_LEAST_TEXT, _ROOM_TEXT, _LEAST_BAR, _LONGEST_BAR = 10, 40, 8, 40
"""Least columns for a text that wraps, and those for which bars are shortened; least and most for a bar."""
_NARROWEST, _WIDEST = 40, 1000
"""Columns that a terminal is taken to have at least and at most, whatever COLUMNS says."""


def letters(stack: Mapping[str, float], width: int) -> Words:
    """Return a stack as a bar of `width` letters; causes with a share below 1 / `width` may be missing."""
    total = sum(float(stack.get(cause) or 0) for cause in STACK)
    found: Words = []
    if total <= 0:
        return found
    # Round the ends, not the lengths, so that the lengths add up to the width.
    end, done = 0.0, 0
    for cause in STACK:
        end += float(stack.get(cause) or 0) * width / total
        found.append((LETTERS[cause] * (round(end) - done), cause))
        done = round(end)
    return [words for words in found if words[0]]


def lines(answer: Answer, *, width: int) -> list[Words]:
    """Return the lines of an answer: title, facts, tables, sentences. Numbers are never cut, however narrow it is."""
    found = _sentence(answer.title, width)
    found += _columns(answer.grid(), width)
    for table in answer.shown():
        found += [[], [(table.heading, "bold")], *(_indented(line) for line in _columns(table.grid(), width - _INDENT))]
        found += [
            _indented([(words, "italic") for words, _ in line]) for line in _sentence(table.note, width - _INDENT)
        ]
    return [*found, *([[]] if answer.said else []), *(line for each in answer.said for line in _sentence(each, width))]


def as_text(answer: Answer, *, width: int, colours: bool = False) -> str:
    """Return an answer as text."""
    found = lines(answer, width=width)
    if colours:
        from cyscc.host.answer.terminal import coloured

        return coloured(found)
    return "".join(f"{''.join(words for words, _ in line).rstrip()}\n" for line in found)


def shown(answer: Answer) -> str:
    """Return an answer as text for standard output, in the terminal's width; coloured if the terminal has colours."""
    return as_text(answer, width=terminal_width(), colours=sys.stdout is not None and sys.stdout.isatty())


def terminal_width() -> int:
    """Return the terminal's width in columns; 120 if standard output is no terminal and COLUMNS is not set."""
    return min(max(_NARROWEST, shutil.get_terminal_size(fallback=(120, 24)).columns), _WIDEST)


def _indented(line: Words, by: int = _INDENT) -> Words:
    return [(" " * by, ""), *line]


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(printable(text), width, break_on_hyphens=False) or [""]


def _sentence(text: str, width: int) -> list[Words]:
    """Return the lines of a text; those that begin with spaces stay indented."""
    found = []
    for line in text.splitlines():
        own = line.lstrip()
        by = len(line) - len(own)
        found += [_indented([(part, "")], by) for part in _wrapped(own, max(width - by, _LEAST_TEXT))]
    return found


def _columns(grid: Grid, width: int) -> list[Words]:
    """Return rows in columns. On a narrow terminal bars are shorter, and the last column wraps if it is at the left."""
    heads, left, rows = grid
    bars = [any(not isinstance(row[place], str) for row in rows) for place in range(len(left))]
    needed = [
        max(
            [len(part) for row in (*([heads] if heads else []), *rows) if isinstance(part := row[place], str)],
            default=0,
        )
        for place in range(len(left))
    ]
    wraps = bool(left) and left[-1] and not bars[-1]
    least = [*needed[:-1], min(needed[-1], _ROOM_TEXT)] if wraps else needed
    room = width - sum(need for need, bar in zip(least, bars, strict=True) if not bar) - _GAP * (len(left) - 1)
    share = min(max(room // max(sum(bars), 1), _LEAST_BAR), _LONGEST_BAR)
    widths = [share if bar else need for need, bar in zip(needed, bars, strict=True)]
    if wraps:
        rest = width - sum(widths[:-1]) - _GAP * (len(left) - 1)
        widths[-1] = min(widths[-1], max(rest, _LEAST_TEXT))
    found = [_line([[(head, "bold")] for head in heads], widths, left)] if heads else []
    for row in rows:
        cells = [
            [[(text, "")] for line in cell.splitlines() or [""] for text in _wrapped(line, max(size, 1))]
            if isinstance(cell, str)
            else [letters(cell, size)]
            for cell, size in zip(row, widths, strict=True)
        ]
        height = max(map(len, cells))
        found += [
            _line([cell[place] if place < len(cell) else [] for cell in cells], widths, left) for place in range(height)
        ]
    return found


def _line(cells: Sequence[Words], widths: Sequence[int], left: Sequence[bool]) -> Words:
    found: Words = []
    for cell, size, at_left in zip(cells, widths, left, strict=True):
        space = (" " * (size - sum(len(words) for words, _ in cell)), "")
        found += [*cell, space] if at_left else [space, *cell]
        found.append((" " * _GAP, ""))
    return found[:-1]
