"""Answers as they are pinned, whole: their text and their documents, in a folder beside the tests."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cyscc.host.answer.answer import Answer

_LONG = 2000


def answer_path(test: str, name: str) -> Path:
    """Return the file of an answer, given that of a test."""
    return Path(test).with_name("answers") / f"{name}.txt"


def told(answer: Answer) -> str:
    """Return an answer as text, and its document, a point a line; of long ones a digest."""
    lines = [answer.text(width=200)]
    for field, value in {**answer.fields, "version": None}.items():
        lines += [f"{field}: {line_of(each)}" for each in (value if isinstance(value, list) else [value])]
    return "\n".join([*lines, answer.failure, ""])


def told_of_records(answer: Answer, names: Mapping[str, str]) -> str:
    """Return an answer about records as text, and its whole document, with other names for their folders."""
    text = json.dumps([answer.text(width=200), {**answer.document(), "version": None}])
    for folder, name in names.items():
        text = text.replace(folder, name)
    told, document = json.loads(text)
    return "\n".join([told, *(f"{field}: {line_of(value)}" for field, value in document.items()), ""])


def line_of(value: Any) -> str:
    """Return a value on a line, with numbers of ten digits; of a long one the digest."""
    line = json.dumps(_rounded(value))
    return line if len(line) < _LONG else sha256(line.encode()).hexdigest()


def _rounded(value: Any) -> Any:
    """Return a value whose numbers have ten digits."""
    match value:
        case float():
            return float(f"{value:.10g}")
        case dict():
            return {name: _rounded(each) for name, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value
