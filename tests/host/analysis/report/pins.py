"""Digests of the data and the appearance of every chart of some pages: numbers to five digits."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any

import numpy as np

from cyscc.host.analysis.report.page import sections
from tests.host.analysis.report.pages import BFS, MANY, SCC, record_of
from tests.record.synthetic import Shape

PAGES: dict[str, tuple[Shape, ...]] = {
    "bfs": (BFS,),
    "scc": (SCC,),
    "many": (MANY,),
    "stress": (Shape(memory="stress"),),
    "three": (BFS, Shape(config="published", seed=4), Shape(memory="fixed:75", seed=6)),
}
"""The runs of each page."""


def digests(page: str) -> dict[str, str]:
    """Return two digests of each chart of a page: of what is drawn, and of its axes, menus and links."""
    records, found = [record_of(shape) for shape in PAGES[page]], {}
    # Folders of records are made anew in each run, and so are their names.
    names = {str(record.folder): f"run {number}" for number, record in enumerate(records)}
    for section in sections(records):
        for chart in section.charts:
            drawn = chart.figure.to_plotly_json()
            found[f"{chart.name}: values"] = digest(drawn["data"], names)
            found[f"{chart.name}: looks"] = digest([drawn["layout"], chart.time_of, chart.points], names)
    return found


def digest(value: Any, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a digest of a value, in which numbers have five digits, and some words have other names."""
    text = "\n".join(_told(value))
    for name, other in names.items():
        text = text.replace(name, other)
    return sha256(text.encode()).hexdigest()[:12]


def _told(value: Any) -> Iterator[str]:
    """Yield a value in lines."""
    match value:
        case dict():
            for name in sorted(value):
                yield f"{name}:"
                yield from _told(value[name])
        case list() | tuple() | np.ndarray():
            yield f"{len(value)}"
            for each in value:
                yield from _told(each)
        case float() | np.floating():
            yield f"{value:.5g}"
        case np.integer():
            yield str(int(value))
        case _:
            yield repr(value)
