"""Collects what users see."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.system.outside.interface import interface
from tests.system.outside.normal import Mode, Normal
from tests.system.outside.shapes import file_shape
from tests.system.outside.world import World, run

_BELOW = re.compile(r"^    (\w[\w-]*)(?: .*)?$", re.MULTILINE)
"""A command in the list that a help has of those below it."""


def help_texts(normal: Normal) -> dict[str, list[str]]:
    """Return the lines of each help by the words that lead to it."""
    found: dict[str, list[str]] = {}
    _read((), found, normal)
    return found


def _read(words: tuple[str, ...], found: dict[str, list[str]], normal: Normal) -> None:
    status, text, complaint = run([*words, "--help"])
    if status != 0 or complaint:
        raise RuntimeError(f"cyscc {' '.join(words)} --help ended with {status}: {complaint}")
    # How argparse of later Pythons writes an option that has a short name.
    text = re.sub(r"(-\w) [A-Z][\w.]*, (--[\w-]+)", r"\1, \2", text)
    found[" ".join(("cyscc", *words))] = normal.text(text)
    if "  COMMAND" in text or re.search(r"^  (KIND|FIGURE)$", text, re.MULTILINE):
        listed = re.split(r"^  (?:COMMAND|KIND|FIGURE)$", text, flags=re.MULTILINE)[1].split("\n\n")[0]
        for word in _BELOW.findall(listed):
            _read((*words, word), found, normal)


_ROOT = Path(__file__).resolve().parents[3]

_MEASURED = ("cache ", "reproduce ")
"""Commands that succeed, and print what was measured."""


def _normal(*folders: Path) -> Normal:
    places = {str(_ROOT): "ROOT", str(Path.home()): "HOME", run(["--version"])[1].split()[-1]: "VERSION"}
    for folder in folders:
        places |= {str(folder): "WORLD", str(folder.resolve()): "WORLD"}
    return Normal(places)


def _outcome(line: str, world: World, normal: Normal, mode: Mode) -> dict[str, Any]:
    """Run a command line, return everything that a user sees of it, and restore the folder."""
    status, out, err = run(shlex.split(line))
    found: dict[str, Any] = {"status": status}
    for name, text in (("output", out), ("error", err)):
        if text:
            found[name] = _told(text, normal, mode=mode)
    changes = world.changes()
    if changes:
        found["files"] = _files(changes, world, normal, mode=mode)
    world.restore(changes)
    return found


def _told(text: str, normal: Normal, *, mode: Mode) -> Any:
    """Return the lines of a text, or the document that it is."""
    if text.startswith("{"):
        return normal.document(json.loads(text), mode=mode)
    return normal.text(text, mode=mode)


def _files(changes: list[str], world: World, normal: Normal, *, mode: Mode) -> dict[str, Any]:
    """Return the shape of each new file; files of the same name but for digests are counted."""
    names = {change: "\n".join(normal.text(change)) for change in changes}
    alike = Counter(names.values())
    found: dict[str, Any] = {}
    for change, name in names.items():
        if alike[name] > 1:
            found[name] = "several"
        elif change.startswith(("- ", "~ ")) or change.endswith("/"):
            found[name] = ""
        else:
            found[name] = file_shape(world.path / change, normal, mode=mode)
    return dict(sorted(found.items()))


@contextmanager
def _inside() -> Iterator[World]:
    """Give a world, and be in it, until the end of the block."""
    before = Path.cwd()
    with TemporaryDirectory(prefix="outside-") as name:
        world = World(Path(name).resolve())
        os.chdir(world.path)
        try:
            yield world
        finally:
            os.chdir(before)


def _outcomes(part: str, mode: Mode = Mode.SIMULATED) -> dict[str, Any]:
    """Return the outcome of each command line of a part by itself: the snapshot names them.

    Parameters
    ----------
    part : str
        Name of the part.
    mode : Mode
        What differs from run to run.
    """
    with _inside() as world:
        world.fill()
        normal = _normal(world.path)
        found = {}
        for line in kept(part):
            measured = mode is Mode.TIMED and line.startswith(_MEASURED)
            found[line] = _outcome(line, world, normal, Mode.MEASURED if measured else mode)
        return found


def _interface() -> dict[str, Any]:
    with _inside() as world:
        return interface(_normal(world.path), kept("interface"))


PARTS: dict[str, Callable[[], Any]] = {
    "help": lambda: help_texts(_normal()),
    "interface": lambda: _interface(),
    "refused": lambda: _outcomes("refused"),
    "simulated": lambda: _outcomes("simulated"),
    "studied": lambda: _outcomes("studied"),
    "written": lambda: _outcomes("written"),
    "software": lambda: _outcomes("software", Mode.TIMED),
}
"""How each part is collected."""


def collect(part: str) -> Any:
    """Collect a part of what users see."""
    return PARTS[part]()


def kept(part: str, folder: Path = Path(__file__).parent) -> Any:
    """Return a part as the snapshot in a folder has it."""
    return json.loads((folder / f"{part}.json").read_text())


def seen(part: str, *, keep: bool) -> Any:
    """Collect a part in a process of its own, whose surroundings are settled; return it as a snapshot would have it.

    Parameters
    ----------
    part : str
        Name of the part.
    keep : bool
        Make it the snapshot.
    """
    with TemporaryDirectory(prefix="outside-") as temporary:
        folder = Path(__file__).parent if keep else Path(temporary)
        argv = [sys.executable, "-m", "tests.system.outside", part, "--to", str(folder)]
        subprocess.run(argv, cwd=_ROOT, check=True)
        return kept(part, folder)
