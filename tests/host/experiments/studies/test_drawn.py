"""Answers, requests and figures are as they always were: to the letter, the number and the colour."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from cyscc.host.analysis.roofline.plot import roofline_figure
from cyscc.host.answer.charts import Figure
from cyscc.host.experiments.studies.comparison import AlgorithmComparison, Entry, comparison_figure
from tests.conftest import Pins
from tests.host.analysis.report.pins import digest
from tests.host.analysis.roofline.samples import SETTING, roofline_of
from tests.host.conftest import Answers
from tests.host.experiments.studies.results import (
    Made,
    li_made_up,
    made,
    made_up,
    mecs_made_up,
    patch_computer,
    quach_made_up,
    vhdl_made_up,
    wijs_made_up,
)
from tests.host.experiments.told import told


def _comparisons() -> list[AlgorithmComparison]:
    entries = (
        Entry(name="scipy", simulated=False, where="1 thread", milliseconds=3.25, upload_milliseconds=2),
        Entry(name="tarjan", simulated=False, where="1 thread", milliseconds=412.0, edges=20, passes=1),
        Entry(name="slow", simulated=False, where="2 threads", trouble="given up after 3 s"),
        Entry(name="hc2", simulated=True, where="150 MHz", milliseconds=0.5, edges=33, passes=7, cycles=75_000),
    )
    sizes: dict[str, Any] = {"vertices": 10_000, "edges": 20_000, "components": 4_000, "largest": 5}
    return [AlgorithmComparison(graph="dir/g.txt", entries=each, **sizes) for each in (entries, entries[:1])]


def _roofline(memory: str) -> Figure:
    """Draw levels of which some have a name, some no edge, and some the same spot."""
    names = 9 if memory == "hc2" else 5
    levels = [
        (10, 50, 300, [1, 2, 3, 20, 290]),
        (900, 2000, 500, [400, 450, 200, 40, 300]),
        (0, 10, 200, [1, 1, 2, 0, 110]),
        (1, 6, 30, [1, 6, 2, 20, 29]),
        (1, 6, 30, [1, 6, 2, 20, 29]),
        (5000, 10_400, 9000, [8000, 7000, 200, 40, 300]),
    ]
    crossbar = [20, 450, 3, 2, 2, 8500] if memory == "hc2" else None
    filled = [(*level[:3], [*level[3], *range(names - 5)]) for level in levels]
    return roofline_figure(roofline_of(filled, memory=memory, crossbar=crossbar), SETTING)


def _varied(request: Any) -> dict[str, Any]:
    """Return throughputs that differ from point to point."""
    return made_up(
        request, gteps=request.graph.degree / 50 + request.graph.vertices / 1e6 + len(request.spec.config) / 100
    )


_BOTH = ("published", "hc2")
_THROUGHPUT: dict[str, Any] = {"vertices": (1 << 16, 1 << 18), "configs": _BOTH}
_GRID: dict[str, Any] = {"vertices": (1 << 16, 1 << 18, 1 << 20), "degrees": (16, 32), "configs": _BOTH}
_SIZES: dict[str, Any] = {"vertices": (1 << 20, 1 << 10), "threads": 2, "seed": 1}
_MODELS: dict[str, Any] = {"quick": True, "threads": 5}
_PUBLISHED: dict[str, Any] = {"configs": ("published-1ae",), "graphs": ("hub_3001", "chain_300")}

STUDIES: dict[str, tuple[str, Callable[[Any], dict[str, Any]], dict[str, Any]]] = {
    "table1": ("table1", _varied, {"configs": _BOTH, "vertices": (16,)}),
    "means of table1": ("table1", _varied, {"configs": ("published",), "vertices": (16, 32)}),
    "fig10": ("fig10", made_up, _THROUGHPUT),
    "fig11": ("fig11", _varied, _THROUGHPUT),
    "fig12": ("fig12", made_up, _GRID),
    "fig12 without a graph": ("fig12", made_up, {**_GRID, "max_edges": 1 << 22}),
    "fig13": ("fig13", made_up, _GRID),
    "li-fig2": ("li-fig2", li_made_up, {"seed": 1}),
    "li-fig3": ("li-fig3", li_made_up, {"vertices": 1000, "seed": 1}),
    "li-table2": ("li-table2", li_made_up, _SIZES),
    "li-fig5": ("li-fig5", li_made_up, _SIZES),
    "li-fig6": ("li-fig6", li_made_up, {"threads": 2}),
    "quach-table1": ("quach-table1", quach_made_up, {"pivots": 5, "threads": 2}),
    "quach-table2": ("quach-table2", quach_made_up, {"pivots": 5, "threads": 2}),
    "wijs-table1": ("wijs-table1", wijs_made_up, _MODELS),
    "wijs-table2": ("wijs-table2", mecs_made_up, {**_MODELS, "device": "cuda"}),
    "vhdl": ("vhdl", vhdl_made_up, _PUBLISHED),
}
"""Name, results and options of studies, of made-up measurements."""

FIGURES: dict[str, Callable[[], Figure]] = {
    **{name: partial(lambda study: made_of(study).answer.plot(), name) for name in STUDIES},
    "comparison": lambda: comparison_figure(_comparisons()),
    "roofline": lambda: _roofline("fixed:75"),
    "roofline of a memory with links": lambda: _roofline("hc2"),
}
"""How each figure is made."""


def made_of(name: str) -> Made:
    """Return what is made of a study."""
    figure, result, options = STUDIES[name]
    with pytest.MonkeyPatch.context() as patch:
        patch_computer(patch)
        return made(figure, result, **options)


def text_of(name: str) -> str:
    """Return the answer of a study, and what it asked for."""
    found = made_of(name)
    return told(found.answer) + "".join(f"asked: {_asked(each)}\n" for each in found.requests)


def _asked(request: Any) -> str:
    """Return what a request asks for, but for the sources."""
    graph, spec = getattr(request, "model", request.graph), getattr(request, "spec", None)
    how = [getattr(request, "seed", None)] if spec is None else [spec.memory_name, spec.source]
    return json.dumps([request.label, request.alone, graph.identity(), *how])


@pytest.mark.parametrize("name", STUDIES)
def test_answers_and_requests_are_as_pinned(name: str, answers: Answers) -> None:
    answers(name, text_of(name))


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_as_pinned(name: str, pins: Pins) -> None:
    """A figure has two digests: of what is drawn, and of its axes, panels and titles."""
    drawn = FIGURES[name]().to_plotly_json()
    pins.check(name, {"values": digest(drawn["data"]), "looks": digest(drawn["layout"])})
