"""The help of every command and of what stands below it, found by reading the help itself."""

import re

from tests.system.outside.entry import run
from tests.system.outside.normal import Normal

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
