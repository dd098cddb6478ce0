"""Sums behind the charts: they add up, however rows are merged."""

from dataclasses import replace

import numpy as np
import pytest

from cyscc.host.analysis.report.comparison import AlignedRuns
from cyscc.host.analysis.report.frames import Frames, Key, key_title, keys_of
from tests.host.analysis.report.pages import BFS, SCC, frames_of, record_of
from tests.record.synthetic import Shape


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
