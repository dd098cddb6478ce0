"""Odd command lines: each must end with one clear line and leave nothing, or do what it says."""

import os
import shutil
from contextlib import chdir, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from tests.fuzz.commands import run_cyscc
from tests.fuzz.search import Finding, Part

_COMMANDS = Path(__file__).with_suffix(".txt").read_text().splitlines()
_NUMBERS = ("0", "-1", "1e400", "2^64", "2^63", "9" * 30, "nan", "1.5", "0x10", "", "1e9999999", "\u0663", "1_0", " ")
_NAMES = """
. / .. - missing missing/out folder folder/ loop pipe g.txt g.txt/x seen m.tra seen.vcd ~ $HOME *
brackets.json brackets.toml empty sparse out.pdf out.xyz out.csv out.npz s3://a/b file:x
zero.toml zero.npz zero.gr zero.vcd zero.tra /dev/zero /dev/full /dev/null /proc/self/mem /proc/self/fd/0
"""
_FILES = (*_NAMES.split(), "", "x" * 300, "a\nb", "\x1b[2J", os.fsdecode(b"\xff"))
_VARIABLES = {
    "COLUMNS": ("9" * 30, "0", "-5", "x", ""),
    "LINES": ("9" * 30, "-5"),
    "TERM": ("", "odd", "dumb"),
    "FORCE_COLOR": ("1",),
    "NO_COLOR": ("1",),
    "LC_ALL": ("C", "odd"),
    "TMPDIR": ("/nonexistent",),
}
_OPTIONS = ("--json", "--quiet", "--threads", "--seed", "--config", "--memory", "-o", "--no-verify", "--", "--jsn", "-")
_TOO_LONG = 240


@dataclass(frozen=True)
class Oddity:
    """A command line.

    Parameters
    ----------
    arguments : list of str
        Its words.
    environment : dict
        Variables of its environment.
    """

    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)


def draw(chance: Random) -> Oddity:
    """Draw a command line: one that is good, with odd words in some places."""
    words = chance.choice(_COMMANDS).split()
    for count in range(chance.choice((1, 1, 1, 2, 3))):
        place = chance.randrange(1, len(words))
        kind = chance.randrange(20)
        # Without more than one word, some would measure for minutes.
        if kind == 19 and count == 0:
            del words[place]
        elif kind >= 17:
            words[place:place] = [chance.choice(_OPTIONS)]
        elif not words[place].startswith("-"):
            name, equals, _ = words[place].rpartition("=")
            numeric = words[place][-1:].isdigit()
            words[place] = name + equals + chance.choice(_NUMBERS if numeric and kind < 14 else _FILES)
    variables = {}
    if chance.randrange(5) == 4:
        name = chance.choice(sorted(_VARIABLES))
        variables = {name: chance.choice(_VARIABLES[name])}
    return Oddity(words, variables)


@cache
def _things() -> "TemporaryDirectory[str]":
    """Return a folder with all that command lines name, made once and removed when the process ends."""
    things = TemporaryDirectory(prefix="cyscc-odd-")
    folder = Path(things.name)
    (folder / "g.txt").write_text("0 1\n1 0\n1 2\n")
    (folder / "m.tra").write_text("2 2 2\n0 0 1 1.0\n1 0 0 1.0\n")
    for name in ("brackets.json", "brackets.toml"):
        (folder / name).write_text("a=" * name.endswith("toml") + "[" * 100_000)
    (folder / "empty").touch()
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    for suffix in ("toml", "npz", "gr", "vcd", "tra"):
        (folder / f"zero.{suffix}").symlink_to("/dev/zero")
    with chdir(folder):
        made = run_cyscc("bfs", "g.txt", "--source", "1", "--config", "test", "--record", "seen", "--waves", "seen.vcd")
    assert made.status == 0, made
    return things


def examine(case: Oddity, folder: Path) -> Finding:
    """Run a command line in a folder with all that it may name."""
    shutil.copytree(_things().name, folder, symlinks=True, dirs_exist_ok=True)
    os.mkfifo(folder / "pipe")
    with (folder / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    before = _names(folder)
    with chdir(folder), patch.dict(os.environ, case.environment):
        ended = run_cyscc(*case.arguments)
    left = _names(folder) - before
    with suppress(OSError):
        (folder / "pipe").unlink()
    wrong = []
    if ended.status not in (0, 2, 3) or "internal error" in ended.err:
        wrong.append(f"status {ended.status}: {ended.line}")
    if ended.status == 2 and (ended.err.count("\n") != 1 or len(ended.line) > _TOO_LONG):
        wrong.append(f"not a line: {ended.err!r}")
    if ended.status == 2 and left:
        wrong.append(f"left: {', '.join(sorted(left))}")
    if wrong:
        return Finding("odd", False, "; ".join(wrong))
    return Finding({0: "done", 2: "refused", 3: "failed"}[ended.status], True)


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


ODDITIES = Part("oddities", 10, 120, draw, examine)
"""The part."""
