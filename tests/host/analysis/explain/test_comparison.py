"""Comparisons of two records: what is paired, what differs, and the conclusion, recomputed from the tables."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from cyscc.host.analysis.explain.comparison import Comparison, compare
from cyscc.host.analysis.explain.difference import conclusion, difference, settings_text, share_text
from cyscc.host.record.reader import Record
from cyscc.host.specification.place import Place
from cyscc.sim.observation.causes import CAUSE_NAMES
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.host.conftest import Answers
from tests.host.experiments.told import told_of_records
from tests.record.synthetic import Shape

SMALLER = Shape(config="hc2-1ae", levels=(150, 900, 1100, 400, 120, 70), seed=5)
EQUAL = replace(BFS, memory="fixed:75", interval=512)
EARLIER = replace(SCC, sources=(11, 12, 13), levels=(60, 340, 80), memory="fixed:75", interval=512)
LATER = replace(EARLIER, sources=(12, 11, 14), levels=(60, 280, 130), restarted=False)
PAIRS = pytest.mark.parametrize(
    ("one", "other"),
    [(BFS, SMALLER), (SMALLER, BFS), (EARLIER, LATER), (LATER, EARLIER), (BFS, SCC)],
    ids=["bfs", "bfs back", "scc", "scc back", "bfs and scc"],
)


@cache
def compared(one: Shape, other: Shape) -> Comparison:
    """Return a comparison that several tests look at."""
    return compare(record_of(one), record_of(other))


@PAIRS
def test_the_whole_answer_is_as_pinned(
    one: Shape, other: Shape, request: pytest.FixtureRequest, answers: Answers
) -> None:
    names = {str(record_of(one).folder): "ONE", str(record_of(other).folder): "OTHER"}
    answers(request.node.callspec.id, told_of_records(difference(compared(one, other), top=4), names))


@PAIRS
def test_all_is_compared_once(one: Shape, other: Shape) -> None:
    comparison = compared(one, other)
    plains = plain_of(one), plain_of(other)
    for name, plain in zip(("first", "second"), plains, strict=True):
        by_phase = plain.instructions.groupby("phase")["cycles"].sum()
        found = comparison.phases.set_index("phase")[f"{name}_cycles"]
        assert found[found > 0].to_dict() == by_phase.to_dict()
    edges = [plain.instructions["edges"].sum() for plain in plains]
    assert comparison.edges == (edges[0], edges[1])
    for frame in (comparison.levels, comparison.unpaired):
        assert frame[CAUSE_NAMES].sum(axis=1).to_numpy() == pytest.approx(frame["difference"].to_numpy())
    assert sum(comparison.causes.values()) == pytest.approx(comparison.difference)
    took = [plain.document["cycles"] for plain in plains]
    assert comparison.times["host"] == tuple(each["host"] + each["readout"] for each in took)
    assert sum(cycles for name, (_, cycles) in comparison.times.items() if name != "total") == plains[1].total


def test_iterations_are_paired_by_the_vertex_at_which_they_begin() -> None:
    comparison = compared(EARLIER, LATER)
    plains = plain_of(EARLIER), plain_of(LATER)
    levels = comparison.levels
    assert set(zip(levels["iteration"], levels["second_iteration"], strict=True)) == {(1, 2), (2, 1)}
    for row in levels.itertuples():
        for plain, iteration, cycles in zip(
            plains, (row.iteration, row.second_iteration), (row.first_cycles, row.second_cycles), strict=True
        ):
            its = plain.instructions
            its = its[(its["iteration"] == iteration) & (its["phase"] == row.phase) & (its["level"] == row.level)]
            assert its["cycles"].tolist() == [cycles]
    assert levels["level"].tolist() == 2 * [0, 1, 2, 0, 1, 2, -1]
    lone = comparison.unpaired
    third = [plain.instructions[plain.instructions["iteration"] == 3]["cycles"].sum() for plain in plains]
    assert [lone["first_cycles"].sum(), lone["second_cycles"].sum()] == third
    assert lone[["first_iterations", "second_iterations"]].to_numpy().tolist() == 3 * [[1, 1]]
    text = " ".join(conclusion(comparison))
    names = [record_of(shape).folder for shape in (EARLIER, LATER)]
    assert f"Not paired: 1 iteration of {names[0]} and 1 iteration of {names[1]}, " in text
    restarted = plains[0].document["cycles"]["restarted"]
    assert f"Attempts that were given up, {restarted:,} and 0 cycles, are not counted." in text
    assert "second iteration" in difference(comparison, top=3).text(width=170)


def test_the_levels_named_have_most_of_the_difference() -> None:
    longer = replace(EQUAL, levels=(150, 700, 1900, 800, 100))
    comparison = compare(record_of(BFS), record_of(longer))
    assert comparison.levels["difference"].tolist() == [0, 0, 400, 400, -20]
    assert "The largest part is in levels 2 and 3: +800 cycles, all else -20." in conclusion(comparison)
    comparison = compare(record_of(EARLIER), record_of(replace(EARLIER, levels=(60, 840, 80), restarted=False)))
    (place,) = (sentence for sentence in conclusion(comparison) if "largest" in sentence or "spread" in sentence)
    forward = comparison.levels[comparison.levels["phase"] == "forward"]
    most = forward.groupby("iteration")["difference"].sum().max()
    assert place == f"The difference is spread over 6 searches and intersections: none has more than {most:+,} cycles."
    alone = compare(record_of(BFS), record_of(longer), Place.of(level=2))
    assert conclusion(alone)[0].startswith("In the instructions shown, ")
    assert alone.difference == 400
    assert not any("largest" in sentence for sentence in conclusion(alone))


def test_equal_runs() -> None:
    record = record_of(BFS)
    same = compare(record, record)
    assert conclusion(same) == [
        "the second run is as fast as the first run: 2,870 cycles, without the time of the host."
    ]
    assert same.settings == {}
    cancelled = compare(record, record_of(replace(EQUAL, levels=(150, 700, 1600, 300, 120))))
    assert conclusion(cancelled)[0].endswith(
        " Levels end when the token comes round, each 16 cycles: smaller differences do not show."
    )
    assert conclusion(cancelled)[-1:] == ["Some levels take 100 cycles more, others as many fewer."]


def test_a_difference_that_is_not_felt_is_not_called_slower() -> None:
    longer = replace(EQUAL, levels=(150, 710, 1500, 400, 120), seed=9)
    first, *_, causes = conclusion(compare(record_of(BFS), record_of(longer)))
    assert " takes nearly as long as " in first
    assert "2,880 against 2,870 cycles, +10 (+0.3%)" in first
    assert causes.startswith("The causes mostly cancel, since the run has another course (")


def test_another_clock_counts_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    record, other = record_of(BFS), record_of(EQUAL)
    monkeypatch.setitem(other.document, "clock_hz", 100e6)
    (sentence,) = conclusion(compare(record, other))[:1]
    assert sentence.startswith(
        f"{other.folder} is slower than {record.folder}: 0.0287 ms at 100 MHz against 0.01913 ms at "
    )
    assert sentence.endswith("150 MHz (+50.0%), 2,870 against 2,870 cycles (+0.0%), without the time of the host.")


def test_other_work_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = record_of(BFS), record_of(SMALLER)
    edges = [int(plain_of(shape).instructions["edges"].sum()) for shape in (BFS, SMALLER)]
    assert "differ" not in " ".join(conclusion(compare(first, second)))
    monkeypatch.setitem(second.document["run"], "digest", "f" * 64)
    comparison = compare(first, second)
    assert not difference(comparison).same_graph
    found = conclusion(comparison)
    assert "The graphs differ: levels of one number may have little in common." in found
    per = [cycles / count for cycles, count in zip(comparison.cycles, edges, strict=True)]
    assert (
        f"For each edge traversed it takes {per[1]:.4g} against {per[0]:.4g} cycles ({per[1] / per[0] - 1:+.1%}); "
        f"the edges are {edges[1]:,} against {edges[0]:,}." in found
    )
    monkeypatch.setitem(second.document["run"]["options"], "source", 5)
    assert "The searches begin at different vertices, 1 and 5." in conclusion(compare(first, second))
    # The vertices of different graphs have nothing in common.
    earlier, later = record_of(EARLIER), record_of(LATER)
    monkeypatch.setitem(later.document["run"], "digest", "f" * 64)
    comparison = compare(earlier, later)
    assert comparison.levels.empty
    assert "The graphs differ: nothing is paired." in conclusion(comparison)
    monkeypatch.setitem(later.document["run"]["options"], "simplify", True)
    comparison = compare(earlier, later)
    assert comparison.levels["iteration"].nunique() == 2
    assert "One of the graphs is without its repeated edges." in conclusion(comparison)


def test_of_an_interrupted_run_only_what_both_have(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = record_of(replace(EQUAL, levels=(150, 700, 1500))), record_of(SMALLER)
    monkeypatch.setattr(first, "interrupted", 2_400)
    comparison = compare(first, second)
    assert comparison.cycles == (2_350, 2_150)
    assert comparison.left_out == (0, 3)
    assert conclusion(comparison)[1:3] == [
        f"{first.folder}: the run was interrupted, and its record ends at cycle 2,400.",
        "Only instructions of both records are compared: 0 and 3 are left out.",
    ]
    assert not any("edge" in sentence for sentence in conclusion(comparison))
    nothing = compare(first, record_of(SCC))
    assert (
        conclusion(nothing)[0] == f"{first.folder} and {record_of(SCC).folder} have no complete instruction in common."
    )
    assert difference(nothing, top=3).title == conclusion(nothing)[0]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (SMALLER, None),
        (EQUAL, {"memory": ["hc2", "fixed:75"]}),
    ],
)
def test_settings_that_matter(shape: Shape, expected: dict[str, Any] | None) -> None:
    first, second = record_of(BFS), record_of(shape)
    settings = compare(first, second).settings
    configs = first.document["configuration"], second.document["configuration"]
    unused = {"intersection_kernels", "reach_depth", "colour_depth", "unvisit_depth", "link_cycles"}
    differing = {
        name: [configs[0][name], configs[1][name]] for name in configs[0] if configs[0][name] != configs[1][name]
    }
    kept = {name: values for name, values in differing.items() if name not in unused}
    assert {name: values for name, values in settings.items() if name != "link_cycles"} == (expected or kept)


def test_one_graph_under_two_names_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = record_of(EQUAL), Record(record_of(EQUAL).folder)
    monkeypatch.setitem(second.document["run"], "graph", "other/name.gr")
    assert compare(first, second).settings == {}
    monkeypatch.setitem(second.document["run"], "digest", "f" * 64)
    assert list(compare(first, second).settings) == ["graph"]


def test_settings_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = record_of(EQUAL), Record(record_of(EQUAL).folder)
    monkeypatch.setitem(second.document["memory_profile"], "latency", 60)
    monkeypatch.setitem(second.document["run"]["options"], "simplify", True)
    assert settings_text(compare(first, second).settings) == "simplify false -> true, memory.latency 75 -> 60"


def test_small_shares_are_not_zero() -> None:
    shares = [share_text(part, 1_000_000) for part in (0, 1_000_000, -123_456, 499, 60, -7)]
    assert shares == ["+0.0%", "+100.0%", "-12.3%", "+0.05%", "+0.01%", "-0.0007%"]
    assert share_text(5, 0) == ""
    assert np.sign(float(share_text(-7, 1_000_000).rstrip("%"))) == -1
