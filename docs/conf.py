"""How Sphinx builds the documentation (``make docs``): tables of the code's own are put in where a page names them."""

import re
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cyscc.host.record.tables import TABLES
from cyscc.hw.causes import CAUSES, Cause
from cyscc.hw.registers import KERNEL_WORD_BITS, Counter, KernelWord

project = "cyscc"
copyright = "2026, cyscc authors"
version = release = metadata.version("cyscc")

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nitpicky = True

html_theme = "furo"
html_title = f"cyscc {release}"
html_copy_source = False


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _tables_of_records() -> str:
    head = ("column", "type", "unit", "what it says")
    return "\n\n".join(
        f"### `{table.name}`\n\n{table.about}\n\n"
        + _table(head, [(f"`{each.name}`", each.kind, each.unit, each.about) for each in table.columns])
        for table in TABLES
    )


GENERATED = {
    "causes_of_kernels": _table(("cause", "when"), [(f"`{each.row.name}`", each.row.about) for each in Cause]),
    "causes_of_records": _table(
        ("cause", "in columns", "when"), [(each.title, f"`{each.name}`", each.about) for each in CAUSES]
    ),
    "counters": _table(
        ("word", "name", "BFS kernel", "intersection kernel"),
        [(KernelWord.COUNTER_0 + each, f"`{each.name}`", each.bfs, each.intersection) for each in Counter],
    ),
    "tables_of_records": _tables_of_records(),
    "words_of_a_kernel": str(1 << KERNEL_WORD_BITS),
}
"""Texts that replace ``{{ name }}`` in a page."""


def generated(text: str) -> str:
    """Return a page with what is generated."""
    return re.sub(r"\{\{ (\w+) \}\}", lambda name: GENERATED[name[1]], text)


def setup(app: Any) -> None:
    """Put in what is generated before a page is parsed."""

    def read(_app: Any, _page: str, source: list[str]) -> None:
        source[0] = generated(source[0])

    app.connect("source-read", read)
