"""Sweeps in the Python interface: their rows, records and plots, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cyscc

GRAPH = cyscc.graph_from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0])


pytestmark = pytest.mark.usefixtures("folder")


def test_a_sweep_of_a_graph_in_memory() -> None:
    two: Any = np.int64(2)
    settings = {"memory.bank_busy": np.array([5, 60]), "cycle_limit": [np.int64(100), np.uint32(100_000)]}
    swept = cyscc.sweep(GRAPH, settings, config="test", source=two, jobs=two // 2)
    assert swept.rows["status"].tolist() == ["failed", "done", "failed", "done"]
    assert swept.rows["memory.bank_busy"].tolist() == [5, 5, 60, 60]
    assert swept.rows["cycles"][1] == cyscc.bfs(GRAPH, 2, config="test", overrides={"memory.bank_busy": 5}).cycles
    assert swept.record(two + 1).result["cycles"]["total"] == swept.rows["cycles"][3]
    with pytest.raises(ValueError, match=r"^row: must be at most 3, not 4$"):
        swept.record(4)
    with pytest.raises(ValueError, match=r"^row 0 has no record: cycle limit of 100 reached$"):
        swept.record(0)
    (effect,) = swept.effects.to_dict("records")
    factor = swept.rows["cycles"][3] / swept.rows["cycles"][1]
    assert effect == {"parameter": "memory.bank_busy", "factor": pytest.approx(factor), "best": 5}
    assert "2 failures" in str(swept)
    assert "2 failures" in swept._repr_html_()
    assert all(path.exists() for path in swept.files.values())
    assert swept.files["page"].name == "graph-memory.bank_busy-cycle_limit.html"
    figure = swept.plot("plot.svg", measure="seconds")
    assert figure.layout.yaxis.title.text == "simulated time (ms)"
    assert "2 points failed, and" in Path("plot.svg").read_text()
    with pytest.raises(ValueError, match=r"^measure must be cycles or gteps or seconds, not 'time'$"):
        swept.plot(measure="time")


@pytest.mark.parametrize(
    ("graph", "arguments", "message"),
    [
        (
            GRAPH,
            {"settings": {"memory.bank_busy": 5}},
            "nothing varies: a sweep has several values of a parameter, or ",
        ),
        (GRAPH, {"settings": {"config": ["test", "hc2"]}, "config": "hc2"}, "config is given twice"),
        (GRAPH, {"config": [cyscc.configuration("test")]}, "a sweep takes configurations and memories by name or file"),
        ("study.toml", {"source": 1}, "study.toml is a study, which has its own source"),
        (["study.toml", GRAPH], {}, "study.toml is a study, which has its own graphs"),
        ([GRAPH, GRAPH], {"source": 1}, "source: a sweep over several graphs in memory has none: each has its own "),
        ([], {}, "there is no graph"),
        (GRAPH, {"source": [0, True]}, "source must be a whole number, not True"),
        (GRAPH, {"config": "test", "settings": {"word_depth": [16, 8.5]}}, "word_depth=8.5: word_depth must be an int"),
        (GRAPH, {"settings": {"word_depth": {"from": 16, "to": np.True_}}}, "word_depth: a range has whole numbers "),
    ],
)
def test_what_is_refused(graph: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        cyscc.sweep(graph, **arguments)
