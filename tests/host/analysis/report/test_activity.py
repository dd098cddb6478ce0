"""Sums behind the charts: they add up, however rows are merged."""

from dataclasses import replace

import numpy as np
import pytest

from cyscc.host.analysis.report.activity import Key, Levels, Timeline, key_title
from cyscc.host.analysis.report.comparison import AlignedRuns
from tests.host.analysis.report.pages import BFS, SCC, activity_of, record_of
from tests.record.synthetic import Shape


def test_columns_are_whole_intervals() -> None:
    record = record_of(BFS)
    for most in (1, 7, 20, 1000):
        time = Timeline.of(record, most=most)
        assert time.columns <= most
        assert time.width % record.interval == 0
        assert time.lengths.sum() == record.cycles
        assert (time.at(time.starts) == np.arange(time.columns)).all()


def test_few_levels_stand_by_themselves() -> None:
    levels = activity_of(BFS).levels
    assert levels.titles == ("level 0", "level 1", "level 2", "level 3", "level 4")
    assert levels.detailed


def test_of_many_levels_the_longest_stand_by_themselves() -> None:
    keys = [Key(1, 0, 0), Key(1, 0, 1), Key(1, 1, 0), Key(1, 2, -1), Key(2, 0, 0), Key(2, 1, 0)]
    levels = Levels.group(keys, np.array([5, 90, 7, 3, 80, 6]), most=2)
    assert levels.titles == (
        "1 forward 1",
        "2 forward 0",
        "other forward (1)",
        "other backward (2)",
        "other intersection (1)",
    )
    assert levels.of.tolist() == [2, 0, 3, 4, 1, 3]
    assert levels.sizes.tolist() == [1, 1, 1, 2, 1]
    assert not levels.detailed
    search = Levels.group([Key(0, 0, level) for level in range(4)], np.array([1, 2, 3, 4]), most=3)
    assert search.titles == ("level 1", "level 2", "level 3", "other levels (1)")
    assert key_title(Key(7, 2, -1)) == "7 intersection"


def test_of_runs_the_levels_that_differ_most_stand_by_themselves() -> None:
    other = Shape(config="hc2-1ae", levels=(150, 900, 1100, 400, 120, 70), seed=5)
    comparison = AlignedRuns([record_of(shape) for shape in (BFS, other)], most=3)
    assert comparison.levels.titles == ("level 1", "level 2", "level 5", "other levels (3)")
    taken = [np.array([*shape.levels, 0][:6]) for shape in (BFS, other)]
    more = taken[1] - taken[0]
    found = sum(comparison.difference(1).values())
    expected = [more[1], more[2], more[5], more[0] + more[3] + more[4]]
    assert found == pytest.approx([sum(more), *expected])


def test_runs_are_aligned_by_the_vertices_of_their_iterations() -> None:
    one, other = (replace(SCC, sources=sources) for sources in ((11, 12, 13), (12, 11, 14)))
    comparison = AlignedRuns([record_of(shape) for shape in (one, other)], most=99)
    titles = comparison.levels.titles
    assert titles[-3:] == ("forward, not paired", "backward, not paired", "intersection, not paired")
    cycles = [
        record_of(shape).instructions.groupby(["iteration", "phase", "level"])["cycles"].sum() for shape in (one, other)
    ]
    found = [
        dict(zip(titles, np.sum(list(each.values()), axis=0).round().astype(int), strict=True))
        for each in comparison.by_cause
    ]
    assert found[0]["2 forward 1"] == cycles[0][2, "forward", 1]
    assert found[1]["2 forward 1"] == cycles[1][1, "forward", 1]
    assert found[1]["3 backward 0"] == found[0]["backward, not paired"] == 0
    assert found[1]["backward, not paired"] == cycles[1][3, "backward"].sum()


def test_of_runs_that_do_not_differ_the_longest_levels_stand_by_themselves() -> None:
    comparison = AlignedRuns([record_of(BFS), record_of(BFS)], most=3)
    assert comparison.levels.titles == ("level 1", "level 2", "level 3", "other levels (2)")
    assert not any(values.any() for values in comparison.difference(1).values())
