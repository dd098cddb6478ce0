"""The roofline as rows, as JSON, and as a figure."""

import dataclasses
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from cyscc.host.analysis.roofline.analysis import Roofline, level_points, limit_rows, roofline_document
from cyscc.host.analysis.roofline.plot import roofline_figure
from cyscc.host.answer.static import write
from cyscc.host.output.errors import InputError
from tests.host.analysis.roofline.samples import SETTING, bounds_of, roofline_of

LEVELS = [
    (10, 50, 300, [1, 2, 3, 20, 290]),
    (900, 2000, 500, [400, 450, 200, 40, 300]),
    (0, 10, 200, [1, 1, 2, 0, 110]),
]


def rows(roofline: Roofline) -> list[tuple[Any, ...]]:
    return [
        (row["limit"], row["cycles"], row["gteps"] and round(row["gteps"], 3), row["share"], row["tightest_levels"])
        for row in limit_rows(roofline, SETTING)
    ]


def test_rows() -> None:
    assert rows(roofline_of(LEVELS)) == [
        ("ports", 402, 0.340, 0.402, None),
        ("imbalance", 453, 0.301, 0.453, 1),
        ("outstanding reads", 205, 0.666, 0.205, None),
        ("ring", 60, 2.275, 0.06, None),
        ("level overhead", 700, 0.195, 0.7, 2),
        ("all of them", 850, 0.161, 0.85, None),
        ("reached", 1000, 0.137, 1.0, None),
    ]


def test_limit_that_is_not_there_allows_any_throughput() -> None:
    roofline = roofline_of([(0, 1, 100, [1, 1, 2, 0, 90])])
    assert ("ring", 0, None, 0.0, None) in rows(roofline)
    assert roofline_document(roofline, SETTING)["limits"]["ring"] == {"cycles": 0, "gteps": None, "tightest_levels": 0}


def test_crossbar_stands_beside_the_limits() -> None:
    limits = [(10, 50, 300, [9] * 8 + [290]), (900, 2000, 500, [9, 300, *[9] * 7])]
    roofline = roofline_of(limits, memory="hc2", crossbar=[20, 450])
    assert rows(roofline)[-4:] == [
        ("all of them", 590, 0.231, 590 / 800, None),
        ("crossbar queues", 470, 0.290, 470 / 800, 1),
        ("all with these", 740, 0.184, 740 / 800, None),
        ("reached", 800, 0.171, 1.0, None),
    ]
    document = json.loads(json.dumps(roofline_document(roofline, SETTING)))
    assert document["efficiency"] == 590 / 800
    assert document["crossbar"] == {
        "cycles": 470,
        "gteps": pytest.approx(910 * 0.15 / 470),
        "share": 470 / 800,
        "tightest_levels": 1,
    }
    assert document["expected"] == {"cycles": 740, "gteps": pytest.approx(910 * 0.15 / 740)}
    assert [level["crossbar"] for level in document["levels"]] == [20, 450]
    assert "crossbar" not in document["levels"][0]["limits"]


def test_points_are_levels_with_edges() -> None:
    points = level_points(roofline_of(LEVELS))
    order = np.argsort(points.level)
    assert points.level[order].tolist() == [0, 1]
    assert points.intensity[order].tolist() == [0.2, 0.45]
    assert points.rate[order].tolist() == [10 / 300, 900 / 500]
    assert points.edges[order].tolist() == [10, 900]
    assert points.share[order].tolist() == [0.3, 0.5]


def test_levels_of_one_spot_are_one_point() -> None:
    points = level_points(roofline_of([(1, 6, 300, [1, 6, 2, 20, 290])] * 100_000 + LEVELS))
    order = np.argsort(points.edges)
    assert points.edges[order].tolist() == [10, 900, 100_000]
    assert points.level[order].tolist() == [100_000, 100_001, -1]


def test_figure_says_what_it_shows() -> None:
    figure = roofline_figure(
        roofline_of(LEVELS), dataclasses.replace(SETTING, spec=dataclasses.replace(SETTING.spec, graph="a_$b$\n.gr"))
    )
    layout = figure.layout
    assert layout.xaxis.title.text.startswith("intensity (edges per memory request; the most: two requests an edge)")
    assert layout.yaxis.title.text == "throughput (GTEPS)"
    assert (layout.xaxis.type, layout.yaxis.type) == ("log", "log")
    assert layout.title.text == "a_$b$?.gr on hc2-1ae, memory fixed:75: 0.137 GTEPS"
    points = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers+text"]
    named = {text: (x, y) for trace in points for text, x, y in zip(trace.text, trace.x, trace.y, strict=True)}
    assert named == {
        "0": (pytest.approx(0.2), pytest.approx(10 * 0.15 / 300)),
        "1": (pytest.approx(0.45), pytest.approx(900 * 0.15 / 500)),
    }
    whole = {trace.name: trace.y[0] for trace in figure.data if trace.name.startswith("whole search")}
    assert whole == {
        "whole search, all limits together: 0.161 GTEPS": pytest.approx(910 * 0.15 / 850),
        "whole search, reached: 0.137 GTEPS": pytest.approx(910 * 0.15 / 1000),
    }
    (bars,) = (trace for trace in figure.data if trace.type == "bar")
    assert dict(zip(bars.y, bars.text, strict=True))["all of them"] == "85.0 %"


@pytest.mark.parametrize("memory", ["hc2", "stress", "fixed:75"])
def test_plot_of_a_search_without_edges(memory: str, tmp_path: Path) -> None:
    limits = [1] * len(bounds_of("hc2-1ae", memory).names)
    path = tmp_path / "plot.svg"
    write(roofline_figure(roofline_of([(0, 1, 150, limits)], memory=memory), SETTING), str(path))
    assert "no edge was traversed" in path.read_text()
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize(("form", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_suffix_names_the_format_and_the_same_search_gives_the_same_file(
    form: str, begin: bytes, tmp_path: Path
) -> None:
    files = [tmp_path / f"{name}.{form}" for name in ("one", "two")]
    for path in files:
        write(roofline_figure(roofline_of(LEVELS), SETTING), str(path))
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(begin)


def test_plot_that_cannot_be_written_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: No such file or directory$"):
        write(roofline_figure(roofline_of(LEVELS), SETTING), str(tmp_path / "none" / "plot.svg"))
    assert list(tmp_path.iterdir()) == []
