"""Comparisons of groups of runs: what forms a group, the statistics, the sentences."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_ind

from cyscc.host.analysis.explain.groups import (
    GroupComparison,
    RunGroup,
    compare_groups,
    groups_conclusion,
    groups_of_runs,
    input_text,
    spread_text,
)
from cyscc.host.analysis.explain.groups import grouped as answer_of
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.sim.observation.causes import CAUSE_NAMES
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.record.synthetic import Shape
from tests.refusals import refused


def runs(memory: str, sizes: tuple[int, ...]) -> list[Shape]:
    return [Shape(memory=memory, levels=(150, size), interval=512, seed=size) for size in sizes]


ONE, OTHER = runs("fixed:75", (500, 600, 800, 1100)), runs("fixed:60", (200, 290, 500, 650))

PAIRED = (0.5166862235978142, 0.7198318039764958)


@pytest.fixture(autouse=True)
def sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the searches of a group begin at different vertices."""
    for shapes in (ONE, OTHER):
        for source, shape in enumerate(shapes):
            monkeypatch.setitem(record_of(shape).document["run"]["options"], "source", source)


@cache
def grouped(*shapes: Shape, against: tuple[Shape, ...] = ()) -> tuple[list[RunGroup], list[GroupComparison]]:
    groups = groups_of_runs([record_of(shape) for shape in shapes], [record_of(shape) for shape in against])
    return groups, compare_groups(groups)


def cycles_of(shapes: list[Shape]) -> Any:
    return np.array([plain_of(shape).instructions["cycles"].sum() for shape in shapes], float)


def test_runs_of_a_machine_are_a_group() -> None:
    mixed = [shape for pair in zip(ONE, OTHER, strict=True) for shape in pair]
    groups, (comparison,) = grouped(*mixed)
    assert [group.name for group in groups] == ["memory fixed:75", "memory fixed:60"]
    assert [list(group.records) for group in groups] == [[record_of(each) for each in its] for its in (ONE, OTHER)]
    logs = np.log(cycles_of(OTHER) / cycles_of(ONE))
    assert comparison.ratio == pytest.approx(np.exp(logs.mean()))
    # As scipy.stats.ttest_1samp has it.
    assert comparison.interval == pytest.approx(PAIRED)
    assert comparison.beyond_spread
    assert comparison.left_out == (0, 0)
    assert groups[0].runs["cycles"].tolist() == cycles_of(ONE).tolist()
    for name in CAUSE_NAMES:
        one, other = (np.array([plain_of(each).stack(name).sum() for each in its]) for its in (ONE, OTHER))
        shares = (other - one) / cycles_of(ONE)
        assert comparison.causes[name].tolist() == pytest.approx(shares.tolist())
        assert groups[0].causes[name].tolist() == pytest.approx((one / cycles_of(ONE)).tolist())


def test_the_conclusion_has_these_numbers() -> None:
    groups, comparisons = grouped(*ONE, *OTHER)
    text, beyond, why = groups_conclusion(groups, comparisons)
    found = re.fullmatch(
        r"memory fixed:60 is faster than memory fixed:75 on all 4 inputs: (\S+) times as fast "
        r"\(geometric mean, (\S+) to (\S+), 95 % interval (\S+) to (\S+)\)\.",
        text,
    )
    assert found is not None
    ratios = cycles_of(ONE) / cycles_of(OTHER)
    interval = comparisons[0].interval
    assert interval is not None
    expected = [np.prod(ratios) ** 0.25, ratios.min(), ratios.max(), 1 / interval[1], 1 / interval[0]]
    assert [float(each) for each in found.groups()] == pytest.approx(expected, abs=0.0005)
    assert beyond == "The difference is larger than the spread."
    assert why.startswith("By cause, of the cycles of memory fixed:75: ")
    groups, comparisons = grouped(*ONE, against=tuple(OTHER))
    assert groups_conclusion(groups, comparisons)[0].startswith(
        "memory fixed:75 is slower than memory fixed:60 on all 4 inputs: "
    )
    answer = answer_of(groups, top=3)
    assert answer.title.startswith("memory fixed:75 is slower than memory fixed:60")
    assert answer.facts == {"settings that differ": "memory fixed:60 -> fixed:75"}
    assert answer.tables["inputs"].heading == "memory fixed:75 against memory fixed:60, by input: 3 of 4"
    assert answer.inputs["ratio"].tolist() == pytest.approx(list(ratios))
    assert answer.groups["group"].tolist() == ["memory fixed:60", "memory fixed:75"]
    assert answer.groups["deviation"].tolist() == pytest.approx([cycles_of(its).std(ddof=1) for its in (OTHER, ONE)])
    assert answer.comparisons["ratio"].tolist() == [comparisons[0].ratio]


def test_a_difference_within_the_spread() -> None:
    mixed = runs("fixed:60", (700, 400, 900, 1000))
    for source, shape in enumerate(mixed):
        record_of(shape).document["run"]["options"]["source"] = source
    groups, comparisons = grouped(*ONE, *mixed)
    assert not comparisons[0].beyond_spread
    text = " ".join(groups_conclusion(groups, comparisons))
    assert "on 2 of 4 inputs" in text
    assert "The difference is not larger than the spread: the interval contains 1." in text


def test_runs_that_the_other_group_lacks() -> None:
    groups, comparisons = grouped(*ONE, *OTHER[:1])
    assert comparisons[0].left_out == (3, 0)
    assert comparisons[0].interval is None
    text = " ".join(groups_conclusion(groups, comparisons))
    assert "on the one input that both have: " in text
    assert (
        "The spread is not known: that takes 3 inputs or more. Left out are 3 runs of memory fixed:75 and 0 of" in text
    )
    assert spread_text(groups[1].runs["cycles"], ",.0f") == f"{cycles_of(OTHER)[0]:,.0f}"


def test_without_common_inputs_rates_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    few = grouped(*ONE[:2], *OTHER[2:])[1]
    assert few[0].interval is None
    for source, shape in enumerate(OTHER):
        monkeypatch.setitem(record_of(shape).document["run"]["options"], "source", 10 + source)
    groups = groups_of_runs([record_of(each) for each in (*ONE, *OTHER)])
    comparisons = compare_groups(groups)
    rates = [[record_of(each).result["gteps"] for each in its] for its in (ONE, OTHER)]
    assert comparisons[0].ratio == pytest.approx((np.prod(rates[0]) / np.prod(rates[1])) ** 0.25)
    expected = ttest_ind(*(np.log(own) for own in rates), equal_var=False).confidence_interval(0.95)
    assert comparisons[0].interval is not None
    assert np.log(comparisons[0].interval) == pytest.approx([expected.low, expected.high])
    assert "have no input in common, so rates are compared." in groups_conclusion(groups, comparisons)[0]


def test_one_group() -> None:
    groups, comparisons = grouped(*ONE)
    assert comparisons == []
    cycles = cycles_of(ONE)
    (text,) = groups_conclusion(groups, comparisons)
    mean = f"{cycles.mean():,.0f} ± {cycles.std(ddof=1):,.0f}"
    assert text.startswith(f"test, memory fixed:75: 4 runs of 650 to 1,250 cycles, on average {mean}; ")
    assert "runs\n  input" in answer_of(groups, top=5).text(width=120)


def test_equal_runs() -> None:
    same = [replace(shape, memory="fixed:60") for shape in ONE]
    for source, shape in enumerate(same):
        record_of(shape).document["run"]["options"]["source"] = source
    groups, comparisons = grouped(*ONE, *same)
    assert groups_conclusion(groups, comparisons) == [
        "memory fixed:60 takes as long as memory fixed:75 on all 4 inputs."
    ]


def test_names_of_groups() -> None:
    groups, _ = grouped(BFS, ONE[0])
    assert [group.name for group in groups] == ["memory hc2", "memory fixed:75"]
    groups, _ = grouped(*ONE[:2], OTHER[2], against=(OTHER[0],))
    assert [group.name for group in groups] == ["group 1", "group 2"]
    assert input_text(record_of(ONE[2])) == "synthetic.gr from 2"


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one, scc, stopped = record_of(BFS), record_of(SCC), Record(record_of(ONE[1]).folder)
    with refused(InputError, f"{scc.folder}: is of another algorithm than {one.folder}"):
        groups_of_runs([one, scc])
    twin = record_of(replace(BFS, levels=(150, 400), interval=512))
    with refused(InputError, f"{twin.folder}: has the input of {one.folder}, which is in the same group"):
        groups_of_runs([one, twin])
    monkeypatch.setattr(stopped, "interrupted", 5)
    ending = "the run was interrupted, and its record ends at cycle 5"
    with refused(InputError, f"{stopped.folder}: is no run to compare with others: {ending}"):
        groups_of_runs([one, stopped])
