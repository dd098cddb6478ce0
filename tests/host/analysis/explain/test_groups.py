"""Comparisons of groups of runs: what forms a group, the statistics, the sentences."""

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cyscc.host.analysis.explain.groups import (
    GroupComparison,
    RunGroup,
    Spread,
    compare_groups,
    groups_of_runs,
    input_text,
)
from cyscc.host.analysis.explain.groups_page import groups_conclusion, groups_document, groups_page
from cyscc.host.analysis.explain.terminal import as_text
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.sim.observation.causes import CAUSE_NAMES
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.record.synthetic import Shape
from tests.refusals import refused

SIZES = (1500, 1600, 1800, 2100)
FASTER = (1200, 1290, 1500, 1650)


def runs(config: str, sizes: tuple[int, ...]) -> list[Shape]:
    return [
        Shape(config=config, levels=(150, 700, size, 400, 120), seed=40 + place) for place, size in enumerate(sizes)
    ]


ONE, OTHER = runs("test", SIZES), runs("hc2-1ae", FASTER)


@pytest.fixture(autouse=True)
def sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the searches of a group begin at different vertices."""
    for shapes in (ONE, OTHER):
        for source, shape in enumerate(shapes):
            monkeypatch.setitem(record_of(shape).document["run"]["options"], "source", source)


def grouped(*shapes: Shape, against: tuple[Shape, ...] = ()) -> tuple[list[RunGroup], list[GroupComparison]]:
    groups = groups_of_runs([record_of(shape) for shape in shapes], [record_of(shape) for shape in against])
    return groups, compare_groups(groups)


def cycles_of(shapes: list[Shape]) -> Any:
    return np.array([plain_of(shape).instructions["cycles"].sum() for shape in shapes], float)


def test_runs_of_a_machine_are_a_group() -> None:
    mixed = [shape for pair in zip(ONE, OTHER, strict=True) for shape in pair]
    groups, (comparison,) = grouped(*mixed)
    assert [group.name for group in groups] == ["test", "hc2-1ae"]
    assert [list(group.records) for group in groups] == [[record_of(each) for each in its] for its in (ONE, OTHER)]
    logs = np.log(cycles_of(OTHER) / cycles_of(ONE))
    assert comparison.ratio == pytest.approx(np.exp(logs.mean()))
    expected = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    assert comparison.interval == pytest.approx((math.exp(expected.low), math.exp(expected.high)))
    assert comparison.beyond_spread
    assert comparison.left_out == (0, 0)
    assert groups[0].cycles == Spread(
        mean=cycles_of(ONE).mean(), deviation=cycles_of(ONE).std(ddof=1), least=2870, most=3470
    )
    for name in CAUSE_NAMES:
        one, other = (np.array([plain_of(each).stack(name).sum() for each in its]) for its in (ONE, OTHER))
        shares = (other - one) / cycles_of(ONE)
        assert comparison.causes[name].mean == pytest.approx(shares.mean())
        assert comparison.causes[name].deviation == pytest.approx(shares.std(ddof=1))
        own = one / cycles_of(ONE)
        assert groups[0].causes[name].mean == pytest.approx(own.mean())
        assert (groups[0].causes[name].least, groups[0].causes[name].most) == pytest.approx((own.min(), own.max()))


def test_the_conclusion_has_these_numbers() -> None:
    groups, comparisons = grouped(*ONE, *OTHER)
    text, beyond, why = groups_conclusion(groups, comparisons)
    found = re.fullmatch(
        r"hc2-1ae is faster than test on all 4 inputs: (\S+) times as fast \(geometric mean, (\S+) to (\S+), "
        r"95 % interval (\S+) to (\S+)\)\.",
        text,
    )
    assert found is not None
    ratios = cycles_of(ONE) / cycles_of(OTHER)
    interval = comparisons[0].interval
    assert interval is not None
    expected = [stats.gmean(ratios), ratios.min(), ratios.max(), 1 / interval[1], 1 / interval[0]]
    assert [float(each) for each in found.groups()] == pytest.approx(expected, abs=0.0005)
    assert beyond == "The difference is larger than the spread."
    assert why.startswith("By cause, of the cycles of test: ")
    groups, comparisons = grouped(*ONE, against=tuple(OTHER))
    assert groups_conclusion(groups, comparisons)[0].startswith("test is slower than hc2-1ae on all 4 inputs: ")
    page = as_text(groups_page(groups, comparisons, top=3), width=140)
    assert page.startswith("test is slower than hc2-1ae")
    assert "test against hc2-1ae, by input: the first 3 of 4" in page
    document = groups_document(groups, comparisons)
    assert [row["ratio"] for row in document["comparisons"][0]["inputs"]] == pytest.approx(list(ratios))
    assert [group["name"] for group in document["groups"]] == ["hc2-1ae", "test"]


def test_a_difference_within_the_spread() -> None:
    mixed = runs("hc2-1ae", (1700, 1400, 1900, 2000))
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
        "The spread is not known: that takes two inputs or more. Left out are 3 runs of test and 0 of hc2-1ae" in text
    )
    assert groups[1].cycles.text(",.0f") == f"{cycles_of(OTHER)[0]:,.0f}"


def test_without_common_inputs_rates_are_compared() -> None:
    groups, comparisons = grouped(*ONE[:2], *OTHER[2:])
    rates = [[record_of(each).result["gteps"] for each in its] for its in (ONE[:2], OTHER[2:])]
    assert comparisons[0].ratio == pytest.approx(stats.gmean(rates[0]) / stats.gmean(rates[1]))
    found = stats.ttest_ind(*np.log(rates), equal_var=False).confidence_interval(0.95)
    assert comparisons[0].interval == pytest.approx((math.exp(found.low), math.exp(found.high)))
    assert "have no input in common, so rates are compared." in groups_conclusion(groups, comparisons)[0]


def test_one_group() -> None:
    groups, comparisons = grouped(*ONE)
    assert comparisons == []
    cycles = cycles_of(ONE)
    (text,) = groups_conclusion(groups, comparisons)
    mean = f"{cycles.mean():,.0f} ± {cycles.std(ddof=1):,.0f}"
    assert text.startswith(f"test, memory hc2: 4 runs of 2,870 to 3,470 cycles, on average {mean}; ")
    assert "runs\n  input" in as_text(groups_page(groups, comparisons, top=5), width=120)


def test_equal_runs() -> None:
    same = [replace(shape, config="published") for shape in ONE]
    for source, shape in enumerate(same):
        record_of(shape).document["run"]["options"]["source"] = source
    groups, comparisons = grouped(*ONE, *same)
    assert groups_conclusion(groups, comparisons) == ["published takes as long as test on all 4 inputs."]


def test_names_of_groups() -> None:
    groups, _ = grouped(BFS, Shape(memory="fixed:75", seed=6))
    assert [group.name for group in groups] == ["memory hc2", "memory fixed:75"]
    groups, _ = grouped(*ONE[:2], OTHER[2], against=(OTHER[0],))
    assert [group.name for group in groups] == ["group 1", "group 2"]
    assert input_text(record_of(ONE[2])) == "synthetic.gr from 2"


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one, scc, stopped = record_of(BFS), record_of(SCC), Record(record_of(replace(BFS, seed=31)).folder)
    with refused(InputError, f"{scc.folder}: is of another algorithm than {one.folder}"):
        groups_of_runs([one, scc])
    twin = record_of(replace(BFS, seed=32))
    with refused(InputError, f"{twin.folder}: has the input of {one.folder}, which is in the same group"):
        groups_of_runs([one, twin])
    monkeypatch.setattr(stopped, "interrupted", 5)
    ending = "the run was interrupted, and its record ends at cycle 5"
    with refused(InputError, f"{stopped.folder}: is no run to compare with others: {ending}"):
        groups_of_runs([one, stopped])
