"""How a snapshot is written: short things on one line, long ones an entry a line, so that differences read well."""

import json
from typing import Any

_WIDTH = 118


def written(value: Any) -> str:
    """Return a value as the text of a snapshot."""
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
