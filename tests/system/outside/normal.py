"""Normalisation of outputs: replaces what differs between runs or between computers; and how a snapshot is written."""

import json
import os
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

_NUMBER = r"\d[\d,]*(?:\.\d+)?"

_PATTERNS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", "DIGEST"),
    (r"/tmp/(?:cyscc|tmp)[-\w]*", "TEMPORARY"),
    (r"0x[0-9a-f]{9,}", "ADDRESS"),
    (r"\bPython 3\.\d+\.\w+", "Python"),
    (r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?", "DATE"),
    (rf"(?<![\d,]){_NUMBER} cycles/s\b", "# cycles/s"),
    (r"(?<=one thread of )[^;|]+", "PROCESSOR"),
    (r"^(wall time .*|time .*)$", lambda match: re.sub(rf"  +|{_NUMBER}", _spaced, match[0])),
    (rf"(?<![\w,]){_NUMBER} (kB|MB|GB|bytes|KiB|MiB|GiB)\b", r"# \1"),
)
"""Replacements in every text; a number is not tried again at each of its digits, since pages have long lists."""

_VOLATILE = {
    *("wall", "version", "program", "processor", "cores", "threads", "folder", "file_digest", "date"),
    *("peak_memory_bytes", "wall_seconds", "limit", "python", "system"),
}
"""Entries of documents that say when, where and by which version: of these only the type is kept."""

_TIMED = {
    *("seconds", "milliseconds", "speed_up", "cycles_per_second", "time", "times", "spread", "ratio"),
    *(f"{part}_{unit}" for part in ("transpose", "upload", "total") for unit in ("seconds", "milliseconds")),
    *("over_scipy", "over_scipy_total"),
}
"""Further ones of documents about software, whose times are real."""


def _spaced(match: re.Match[str]) -> str:
    return "  " if match[0].isspace() else "#"


class Mode(Enum):
    """Replacements in a particular output."""

    SIMULATED = "nothing"
    TIMED = "real times, which have a fraction"
    MEASURED = "every number"


class Normal:
    """Takes out what differs.

    Parameters
    ----------
    places : dict of str to str
        Texts that stand in what is printed only here, such as folders, and what stands for them.
    """

    def __init__(self, places: dict[str, str]) -> None:
        self._places = sorted(places.items(), key=lambda item: -len(item[0]))

    def text(self, text: str, *, mode: Mode = Mode.SIMULATED) -> list[str]:
        """Return the lines of a text; where numbers in it differ, without the alignment of columns."""
        for place, name in self._places:
            text = text.replace(place, name)
        for pattern, what in _PATTERNS:
            text = re.sub(pattern, what, text, flags=re.MULTILINE)
        if mode is not Mode.SIMULATED:
            text = re.sub(r"\b\d[\d,]*\.\d+" if mode is Mode.TIMED else rf"(?<!\w)[-−]?{_NUMBER}", "#", text)
            text = re.sub(r"(?<=\S) {2,}(?=\S)", "  ", text)
            text = re.sub(r"^ +(?=#|\d)", "", text, flags=re.MULTILINE)
            text = re.sub(r":?-{2,}:?", "--", text)
        return [line.rstrip() for line in text.splitlines()]

    def document(self, value: Any, *, mode: Mode = Mode.SIMULATED) -> Any:
        """Return a document in which types stand for values that differ."""
        if mode is Mode.MEASURED:
            return shape(value)
        if isinstance(value, dict):
            found = {}
            for key, each in value.items():
                differs = key in _VOLATILE or (mode is Mode.TIMED and key in _TIMED) or _is_of_checkpoint(key, value)
                found[self._key(key)] = shape(each) if differs else self.document(each, mode=mode)
            return found
        if isinstance(value, list):
            return [self.document(each, mode=mode) for each in value]
        if isinstance(value, float):
            return float(f"{value:.9g}")
        return "\n".join(self.text(value, mode=mode)) if isinstance(value, str) else value

    def _key(self, key: str) -> str:
        return "\n".join(self.text(key)) if key else key


def _is_of_checkpoint(key: str, entries: dict[str, Any]) -> bool:
    """Whether an entry is the real time that a checkpoint keeps, or the size of a file in which that is."""
    return (key == "seconds" and "identity" in entries) or (key == "size" and "blocks" in entries)


def shape(value: Any) -> Any:
    """Return the types of a document by key; entries of a list are merged."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        kinds: list[Any] = []
        for each in map(shape, value):
            if each not in kinds:
                kinds.append(each)
        if kinds and all(isinstance(each, dict) for each in kinds):
            return [{key: _one([each[key] for each in kinds if key in each]) for each in kinds for key in each}]
        return kinds
    return "null" if value is None else type(value).__name__


def _one(kinds: list[Any]) -> Any:
    """Return the shapes that an entry has in several tables as one."""
    found: list[Any] = []
    for kind in kinds:
        if kind not in found:
            found.append(kind)
    if len(found) > 1 and all(isinstance(kind, dict) for kind in found):
        return {key: _one([kind[key] for kind in found if key in kind]) for kind in found for key in kind}
    return found[0] if len(found) == 1 else " or ".join(sorted(map(str, found)))


def files_below(folder: str | Path) -> dict[str, tuple[int, int]]:
    """Return size and time of each file below a folder by its path."""
    found = {}
    for entry in os.scandir(folder):
        if entry.is_file(follow_symlinks=False):
            status = entry.stat()
            found[entry.name] = (status.st_size, status.st_mtime_ns)
        else:
            found[f"{entry.name}/"] = (0, 0)
            if entry.is_dir(follow_symlinks=False):
                found |= {f"{entry.name}/{name}": state for name, state in files_below(entry.path).items()}
    return found


_WIDTH = 118


def written(value: Any) -> str:
    """Return a value as the text of a snapshot: short things on one line, long ones an entry a line."""
    return _lines(value, "") + "\n"


def _lines(value: Any, margin: str) -> str:
    """Return a value as JSON: on one line if it fits, else an entry a line."""
    short = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(short) <= _WIDTH and not _is_table(value):
        return short
    if isinstance(value, dict) and value:
        inner = [f"{json.dumps(key, ensure_ascii=False)}: {_lines(each, margin + ' ')}" for key, each in value.items()]
    elif isinstance(value, list) and value:
        inner = [_lines(each, margin + " ") for each in value]
    else:
        return short
    begin, end = ("{", "}") if isinstance(value, dict) else ("[", "]")
    between = f",\n{margin} "
    return f"{begin}\n{margin} {between.join(inner)}\n{margin}{end}"


def _is_table(value: Any) -> bool:
    """Whether a value is several lines of text, which stay below each other."""
    return isinstance(value, list) and len(value) > 1 and all(isinstance(each, str) and " " in each for each in value)
