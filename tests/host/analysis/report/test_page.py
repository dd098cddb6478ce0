"""The page of a record: its sections, charts and their data."""

import base64
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from cyscc.host.analysis.explain.explanation import iteration_tables
from cyscc.host.analysis.explain.iterations import iterations_of
from cyscc.host.analysis.report.comparison import AlignedRuns
from cyscc.host.analysis.report.figures import chart_sections
from cyscc.host.analysis.report.frames import Frames, Key, key_title, keys_of
from cyscc.host.analysis.report.page import sections
from cyscc.host.analysis.report.timeline import strip_labels
from cyscc.host.answer.charts import DARK, NARROWEST, PHASE
from cyscc.host.answer.colours import ARRAY_COLOURS, CAUSE_COLOURS, PHASE_COLOURS
from cyscc.host.record.tables import PHASES
from tests.conftest import Pins
from tests.host.analysis.report.pages import BFS, MANY, SCC, frames_of, page_of, record_of
from tests.host.analysis.report.pins import PAGES, digests
from tests.record.synthetic import Shape

SECTIONS = ("verdict", "stacks", "kernels", "work", "memory", "fifos", "latencies", "token", "stalls", "roofline")
LIBRARY = re.compile(r"<script>/\*\*\s*\* plotly\.js.*?</script>", re.DOTALL)


def charts(text: str) -> dict[str, dict[str, Any]]:
    """Return the charts of a page by name."""
    found = re.findall(r'<script type="application/json" id="([^"]+)-chart-data">(.*?)</script>', text, re.DOTALL)
    return {name: json.loads(data) for name, data in found}


def array(value: Any) -> Any:
    """Return numbers as a chart has them."""
    if not isinstance(value, dict):
        return np.array(value)
    shape = [int(size) for size in str(value.get("shape", "-1")).split(",")]
    return np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(value["dtype"])).reshape(shape)


@pytest.mark.parametrize("shapes", [(BFS,), (SCC,), (BFS, Shape(config="published", seed=4))], ids=str)
def test_the_page_is_one_file_that_loads_nothing(shapes: tuple[Shape, ...]) -> None:
    text = page_of(*shapes)
    assert len(text.encode()) < 12e6
    own, count = LIBRARY.subn("", text)
    assert count == 1
    assert re.findall(r'(?:src|href)\s*=\s*(?!"#)[^\s>]*', own) == []
    assert re.findall(r"@import|url\(|https?://", own) == []
    assert "default-src 'none'" in own
    assert text.count("</html>") == 1
    names = re.findall(r'<[a-z]+[^>]* id="([^"]+)"', own)
    assert len(set(names)) == len(names) > 30


@pytest.mark.parametrize(("shape", "left_out"), [(BFS, set()), (SCC, set()), (Shape(memory="stress"), set())])
def test_all_sections_are_there(shape: Shape, left_out: set[str]) -> None:
    text = page_of(shape)
    names = re.findall(r'<section id="([^"]+)"', text)
    own = [name for name in SECTIONS if name not in left_out]
    own[1:1] = ["components"] if shape.iterations else []
    assert names == [*(f"run0-{name}" for name in own), "facts"]
    assert re.findall(r'<li><a href="#([^"]+)">', text) == names
    assert set(re.findall(r'class="chart" id="([^"]+)-chart"', text)) == set(charts(text))


def test_memory_without_banks_has_no_charts_of_them() -> None:
    banked, plain = (set(charts(page_of(shape))) for shape in (BFS, Shape(memory="stress")))
    assert banked - plain == {f"run0-{name}" for name in ("array-levels", "hottest", "banks", "controllers", "links")}


def test_levels_are_marked_on_every_axis_of_time() -> None:
    text = page_of(BFS)
    starts = record_of(BFS).frame("instructions")["start"].tolist()
    timed = re.findall(r'class="chart" id="([^"]+)-chart" data-time="run0"', text)
    assert len(timed) >= 9
    for name in timed:
        layout = charts(text)[name]["layout"]
        assert [shape["x0"] for shape in layout["shapes"] if shape.get("yref") == "paper"] == starts, name
        assert layout["xaxis"]["range"] == [0, record_of(BFS).cycles]
        assert layout["margin"]["l"] == 112


@pytest.mark.parametrize(("shape", "key", "labels"), [(BFS, ["forward"], "level"), (SCC, PHASES, "1 ")])
def test_the_strip_names_phases_and_levels(shape: Shape, key: list[str], labels: str) -> None:
    text = page_of(shape)
    layout = charts(text)["run0-time"]["layout"]
    found = dict(re.findall(r'<span><i style="background: (#\w+)"></i>([a-z ]+)</span>', text))
    assert list(found.values())[: len(key)] == list(key)
    assert all(PHASE_COLOURS[name] == colour for colour, name in found.items() if name in PHASES)
    others = layout["annotations"]
    assert any(label["text"].startswith(labels) for label in others)
    # No label is wider than what it names, nor do two overlap.
    pixels = [label["x"] * NARROWEST / record_of(shape).cycles for label in others]
    halves = [len(label["text"]) * 5.5 / 2 for label in others]
    edges = [(at - half, at + half) for at, half in zip(pixels, halves, strict=True)]
    assert all(left < right for (_, left), (right, _) in pairwise(edges))
    assert edges[0][0] >= 0
    assert edges[-1][1] <= NARROWEST


@pytest.mark.parametrize(("interrupted", "labels"), [(None, []), (3000, [(2000, "not complete")])])
def test_the_end_of_an_interrupted_run_is_labelled(interrupted: int | None, labels: list[tuple[int, str]]) -> None:
    rows = pd.DataFrame({"iteration": 0, "phase": "forward", "level": 0, "start": [0], "cycles": 1000})
    frames: Any = SimpleNamespace(instructions=rows, record=SimpleNamespace(interrupted=interrupted, cycles=3000))
    assert strip_labels(frames) == [(500, "level 0"), *labels]


def test_columns_of_several_phases_have_a_colour_of_their_own() -> None:
    strip = charts(page_of(MANY))["run0-time"]["data"][0]
    phases = record_of(MANY).instructions
    codes, width = array(strip["z"])[0], strip["dx"]
    for column, code in enumerate(codes):
        inside = phases[
            (phases["start"] < (column + 1) * width) & (phases["start"] + phases["cycles"] > column * width)
        ]
        if code == len(PHASES):
            assert inside["phase"].nunique() > 1
        elif np.isfinite(code):
            assert PHASES[int(code)] == inside["phase"].iloc[0]
            assert inside["phase"].nunique() == 1 or len(inside) < 3


def drawn_of(shape: Shape) -> dict[str, Any]:
    """Return the charts of a run by name, without a page."""
    made = [chart for _, _, charts in chart_sections(frames_of(shape)) for chart in charts]
    return {chart.name: chart.figure.to_plotly_json() for chart in made}


@pytest.mark.parametrize("config", ["hc2", "test"])
def test_names_of_kernels_have_room(config: str) -> None:
    shape = Shape(config=config, iterations=1, levels=(60, 30), seed=12)
    drawn = drawn_of(shape)
    tracks = len(drawn["kernels"]["data"][0]["x"])
    ticks = drawn["kernels"]["layout"]["xaxis"]
    widths = [max(map(len, text.split("<br>"))) * 6.6 for text in ticks["ticktext"]]
    for (first, second), ends in zip(pairwise(ticks["tickvals"]), pairwise(widths), strict=True):
        assert (second - first) * NARROWEST / tracks > sum(ends) / 2
    rows = drawn["lapse"]["layout"]
    inside = rows["height"] - rows["margin"]["t"] - 48
    assert all((b - a) * inside / tracks > 12 for a, b in pairwise(rows["yaxis"]["tickvals"]))
    assert all(len(text) * 6.6 < 112 for text in rows["yaxis"]["ticktext"])


def test_a_run_of_one_interval_is_drawn() -> None:
    shape = Shape(levels=(60,), interval=4096, seed=8)
    drawn = drawn_of(shape)
    for name in ("time", "arrays", "token", "stalls"):
        for trace in (each for each in drawn[name]["data"][1:] if each.get("legendgroup") != PHASE):
            assert array(trace["x"])[[0, -1]].tolist() == [0, record_of(shape).cycles - 1], name


def test_neutral_colours_have_dark_ones() -> None:
    found = set(
        re.findall(r'"(?:bgcolor|color|gridcolor|linecolor|\w+_bgcolor)":"(white|black|#[0-9a-f]{6})"', page_of(SCC))
    )
    neutral = {
        colour
        for colour in found - {"white", "black"}
        if max(bytes.fromhex(colour[1:])) - min(bytes.fromhex(colour[1:])) < 24
    }
    own = {*CAUSE_COLOURS.values(), *ARRAY_COLOURS.values(), "#101010", "#999999"}
    assert neutral - own - set(DARK) == set()


def test_several_runs_are_compared_with_the_first() -> None:
    shapes = (BFS, Shape(config="published", seed=4), Shape(memory="fixed:75", seed=6))
    text = page_of(*shapes)
    names = re.findall(r'<section id="([^"]+)"', text)
    assert names[:3] == ["comparison", "facts", "run0-verdict"]
    assert names[-1] == "run2-roofline"
    called = [str(record_of(shape).folder) for shape in shapes]
    assert re.findall(r'<th scope="col">([^<]+)</th>', text)[:3] == called
    for name in called[1:]:
        assert f"<p>{name} is " in text
    drawn = charts(text)["compare-difference"]
    labels = [button["label"] for button in drawn["layout"]["updatemenus"][0]["buttons"]]
    assert labels == [f"{name} against {called[0]}" for name in called[1:]]


def test_iterations_are_told_as_in_the_text() -> None:
    record = record_of(SCC)
    iterations, text = iterations_of(record), page_of(SCC)
    assert iterations is not None
    shown = [table for table in iteration_tables(record, iterations).values() if table.columns]
    cells = re.findall(r'<td(?: class="number")?>([^<]*)</td>', text)
    told = [cell for table in shown for row in table.grid().rows for cell in row[1:]]
    assert cells[: len(told)] == told
    assert [escape(table.heading)[1:] for table in shown] == re.findall("<h3>I(terations[^<]*)</h3>", text)
    assert iterations.advice
    assert set(map(escape, iterations.advice)) <= set(re.findall(r'<p class="advice">(.*)</p>', text))


def test_what_a_graph_is_called_cannot_become_part_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    record = record_of(Shape(seed=9))
    monkeypatch.setitem(record.document["run"], "graph", "</script><script>alert(1)</script>")
    facts = next(section for section in sections([record]) if section.name == "facts")
    assert any("<script>" in text for _, texts in facts.facts for text in texts)
    text = page_of(Shape(seed=9))
    assert "alert(1)" in text
    assert "<script>alert" not in text
    other = record_of(Shape(seed=9, levels=(60, 300)))
    monkeypatch.setattr(other, "folder", Path("<a href='x.org'>\x1b[2J"))
    comparison = next(section for section in sections([record, other]) if section.name == "comparison")
    drawn = "".join(str(chart.figure.to_json()) for chart in comparison.charts)
    assert "&lt;a href" in drawn
    assert "<a href" not in drawn
    assert "\\u001b" not in drawn


def test_columns_are_whole_intervals() -> None:
    record = record_of(BFS)
    for most in (1, 7, 20, 1000):
        frames = Frames(record, columns=most, levels=30)
        assert len(frames.lengths) <= most
        assert frames.width % record.interval == 0
        assert frames.lengths.sum() == record.cycles
        assert (frames.lengths.index == np.arange(len(frames.lengths)) * frames.width).all()


def test_few_levels_are_all_shown() -> None:
    frames = frames_of(BFS)
    assert frames.titles == ["level 0", "level 1", "level 2", "level 3", "level 4"]
    assert frames.others == ""


def test_of_many_levels_the_longest_are_shown() -> None:
    record = record_of(SCC)
    frames = Frames(record, columns=20, levels=4)
    rows = record.instructions
    longest = rows.loc[sorted(rows["cycles"].nlargest(4).index)]
    keys = keys_of(longest)
    assert keys_of(frames.levels) == keys
    assert frames.titles == [f"{key.iteration} {key.phase} {key.level}" for key in keys]
    left = (rows["cycles"].sum() - longest["cycles"].sum()) / record.cycles
    assert frames.others == f" The longest 4; the other {len(rows) - 4} take {left:.1%} of the cycles."
    assert key_title(Key(7, "intersection", -1)) == "7 intersection"


def test_of_runs_the_levels_that_differ_most_are_shown() -> None:
    other = Shape(config="hc2-1ae", levels=(150, 900, 1100, 400, 120, 70), seed=5)
    comparison = AlignedRuns([record_of(shape) for shape in (BFS, other)], most=3)
    assert list(comparison.levels[0].index) == ["level 1", "level 2", "level 5"]
    assert comparison.left_out == 3
    taken = [np.array([*shape.levels, 0][:6]) for shape in (BFS, other)]
    more = taken[1] - taken[0]
    found = comparison.difference(1).sum(axis=1)
    assert found.to_numpy() == pytest.approx([sum(more), more[1], more[2], more[5]])


def test_runs_are_aligned_by_the_vertices_of_their_iterations() -> None:
    one, other = (replace(SCC, sources=sources) for sources in ((11, 12, 13), (12, 11, 14)))
    comparison = AlignedRuns([record_of(shape) for shape in (one, other)], most=99)
    titles = list(comparison.levels[0].index)
    assert titles[-3:] == ["forward, not paired", "backward, not paired", "intersection, not paired"]
    cycles = [
        record_of(shape).instructions.groupby(["iteration", "phase", "level"])["cycles"].sum() for shape in (one, other)
    ]
    found = [each.sum(axis=1).round().astype(int) for each in comparison.levels]
    assert found[0]["2 forward 1"] == cycles[0][2, "forward", 1]
    assert found[1]["2 forward 1"] == cycles[1][1, "forward", 1]
    assert found[1]["3 backward 0"] == found[0]["backward, not paired"] == 0
    assert found[1]["backward, not paired"] == cycles[1][3, "backward"].sum()


def test_of_runs_that_do_not_differ_the_longest_levels_are_shown() -> None:
    comparison = AlignedRuns([record_of(BFS), record_of(BFS)], most=3)
    assert list(comparison.levels[0].index) == ["level 1", "level 2", "level 3"]
    assert not comparison.difference(1).to_numpy().any()


@pytest.mark.parametrize("shown", PAGES)
def test_charts_are_as_pinned(shown: str, pins: Pins) -> None:
    """They are drawn as they always were, to the number and the colour."""
    pins.check(shown, digests(shown))
