"""Explanation of a run, and its values."""

import json
import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cyscc.host.analysis.explain.evidence import Evidence
from cyscc.host.analysis.explain.explanation import explanation
from cyscc.host.analysis.explain.observations import diagnose
from cyscc.host.analysis.explain.stacks import groups_of, stacks
from cyscc.host.analysis.explain.verdict import Finding, findings
from cyscc.host.record.reader import ENDING, GROWING, SATURATED
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK, cause_named
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.host.conftest import Answers
from tests.host.experiments.told import line_of, told_of_records
from tests.record.checks import Plain
from tests.record.synthetic import Shape

SHAPES = pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
IN_ORDER = ["forward", "backward", "intersection", "growing", "saturated", "ending", ""]


def framed(plain: Plain, parts: list[str]) -> pd.DataFrame:
    """Return the instructions with their cycles by cause, of an average kernel."""
    frame = plain.instructions.reset_index(drop=True)
    return frame.assign(**{cause: plain.stack(cause) for cause in CAUSE_NAMES}, instructions=1, part=parts)


@SHAPES
def test_phases_add_up_to_the_run(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    found = explanation(record, record.instructions).frame("phases")
    frame = framed(plain, record.instructions["part"].tolist())
    numbers = ["cycles", "instructions", *CAUSE_NAMES]
    phases = frame.groupby(["phase", "part"])[numbers].sum().reset_index()
    phases = phases.sort_values(["phase", "part"], key=lambda names: names.map(IN_ORDER.index))
    inside = found.head(len(phases))
    names = [", ".join(filter(None, pair)) for pair in zip(phases["phase"], phases["part"], strict=True)]
    assert inside["phase"].tolist() == names
    for name in numbers:
        assert inside[name].tolist() == pytest.approx(phases[name].tolist()), name
    took = plain.document["cycles"]
    outside = {"host": took["host"], "given up": took["restarted"], "reading out": took["readout"]}
    rest = found.iloc[len(phases) :]
    assert dict(zip(rest["phase"], rest["cycles"], strict=True)) == {
        name: each for name, each in outside.items() if each
    }
    assert found["cycles"].sum() == plain.total
    assert found["of_run"].sum() == pytest.approx(1)
    for row in inside.to_dict("records"):
        name, share = row["most"].split()
        assert row[name] == max(row[cause] for cause in CAUSE_NAMES)
        assert share == f"{row[name] / row['cycles']:.0%}"


@SHAPES
def test_ids_that_are_read_for_each_edge(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    answer = explanation(record, record.instructions)
    rows = plain.instructions[plain.instructions["module"] == "bfs"]
    ids = plain.of("instruction_kernels", module="bfs")["issue_2"].sum()
    assert answer.ids_read_per_edge == pytest.approx(ids / rows["edges"].sum())
    repeated = [each for each in findings(record) if each.title.startswith("Repeated work")]
    share = (1 - rows["edges"].sum() / ids) * rows["cycles"].sum() / plain.total
    assert len(repeated) == (share >= 0.03)
    for each in repeated:
        assert each.share == pytest.approx(share)
        assert f"{ids:,} ids for {rows['edges'].sum():,} edges" in each.text


@SHAPES
def test_bounds_of_the_heaviest_instructions(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    found = explanation(record, record.instructions, top=7).frame("bounds")
    frame = framed(plain, record.instructions["part"].tolist())
    heaviest = frame.sort_values("cycles", ascending=False, kind="stable").head(7).sort_index()
    assert found["cycles"].tolist() == heaviest["cycles"].tolist()
    for line, (_, row) in zip(found.to_dict("records"), heaviest.iterrows(), strict=True):
        iteration = f"iteration {row['iteration']}, " if row["iteration"] else ""
        searching = f"{row['phase']} " if row["iteration"] else ""
        place = row["phase"] if row["level"] < 0 else f"{searching}level {row['level']}"
        assert line["where"] == f"{iteration}{place}"
        check_bound(line["bound"], plain, row)


def check_bound(text: str, plain: Plain, row: "pd.Series[Any]") -> None:
    """Check the numbers of the text on what bounds a level, given the level's stack."""
    module = "intersection" if row["phase"] == "intersection" else "bfs"
    work = sum(row[cause] for cause in WORK) / row["cycles"]
    limits = {cause: float(row[cause]) / row["cycles"] for cause in CAUSE_NAMES if cause not in WORK}
    if issuing := re.match(r"issuing requests (\d+%)(, |$)", text):
        assert issuing[1] == f"{work:.0%}"
        text = text[issuing.end() :]
    if not text:
        return
    bound = re.fullmatch(r"(.+?) (\d+%): (.+)", text)
    assert bound is not None
    title, share, numbers = bound.groups()
    small = ("no_work", "ids", "response", "starting", "ending", "flush")
    together: dict[str, tuple[str, ...]] = {"waiting for the memory": ("refused", "credit", "response")}
    together |= {f"small {noun}s": small for noun in ("level", "intersection")}
    together |= {cause_named(name).title: (name,) for name in limits}
    value = sum(limits[name] for name in together[title])
    assert share == f"{value:.0%}"
    assert bool(issuing) == (work >= value)
    if found := re.match(r"([\d,]+) entr(?:y|ies), ([\d,]+) requests of one kernel, ([\d,]+) of the mean one", numbers):
        kernels = plain.of("instruction_kernels", instruction=row["instruction"])
        issued = kernels[list(WORK)].sum(axis=1)
        mean = issued.sum() / plain.kernels(module)
        assert found.groups() == (f"{row['frontier']:,}", f"{issued.max():,.0f}", f"{mean:,.0f}")
    elif found := re.match(r"reads take (\d+) cycles, (\d+) at best", numbers):
        reads = plain.of("instruction_latencies", instruction=row["instruction"])
        mean = (reads["latency"] * reads["reads"]).sum() / reads["reads"].sum()
        assert found.groups() == (f"{mean:.0f}", str(reads["latency"].min()))
    elif found := re.fullmatch(r"([\d,]+) cycles?", numbers):
        (cause,) = together[title]
        assert found[1] == f"{row[cause]:,.0f}"
    else:
        assert numbers.startswith("a turn of the token is")


@SHAPES
def test_stacks_that_are_shown(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    table = explanation(record, record.instructions, by="kernel", top=3).tables["stacks"]
    sums = plain.of("instruction_kernels").groupby(["module", "engine", "kernel"])[CAUSE_NAMES].sum()
    least = sums.drop(columns=[*WORK]).sum(axis=1).nlargest(3).index
    keys = [(row["module"], row["engine"], row["kernel"]) for row in table.records()]
    assert keys == sorted(least)
    assert table.heading == f"cycles by kernel, those that issue least: 3 of {len(sums)}"
    numbers = explanation(record, record.instructions, only=["numbers"])
    assert [each.title.split(",")[0] for each in numbers.shown()] == ["cycles by level"]
    assert len(numbers.tables["stacks"].records()) == len(record.instructions)
    assert numbers.said == []


@SHAPES
def test_iterations(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    answer = explanation(record, record.instructions)
    if not shape.iterations:
        assert "iterations" not in answer.tables
        return
    rows = plain.instructions.assign(part=record.instructions["part"].tolist(), instructions=1)
    by = rows.groupby("iteration")[["instructions", "cycles"]].sum()
    reached = (rows["pushed"] - rows["duplicates"]).groupby([rows["iteration"], rows["phase"]]).sum().unstack() + 1
    by["vertices"] = reached[["forward", "backward"]].min(axis=1).astype(int)
    large = by.index.isin(rows[rows["part"] == "saturated"]["iteration"])
    if not large.any():
        large = by["cycles"] == by["cycles"].max()
    last = by.index[large].max()
    assert answer.last_large == last
    assert answer.iterations["cycles"].tolist() == by["cycles"].tolist()
    assert answer.iterations["vertices"].tolist() == by["vertices"].tolist()
    groups = [large, ~large & (by.index <= last), by.index > last]
    found = answer.frame("iteration_groups")
    expected = [by[chosen] for chosen in groups if any(chosen)]
    for name, values in (
        ("iterations", [len(own) for own in expected]),
        ("cycles", [own["cycles"].sum() for own in expected]),
        ("instructions", [own["instructions"].sum() for own in expected]),
    ):
        assert found[name].tolist() == values
    sizes = by["vertices"].astype(str).str.len().where(by["vertices"] > 1, 0)
    sized = answer.frame("iteration_sizes")
    assert sized["cycles"].tolist() == [by["cycles"][sizes == size].sum() for size in sorted(set(sizes))]
    advice = " ".join(answer.advice)
    tail = by[by.index > last]
    told = re.search(r"the host finish after iteration .*?: ([\d,]+) iterations? .*? take ([\d,]+) cycles", advice)
    assert bool(told) == (tail["cycles"].sum() >= 0.03 * plain.total)
    if told is not None:
        assert told.groups() == (f"{len(tail):,}", f"{tail['cycles'].sum():,}")


@SHAPES
def test_causes(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    answer = explanation(record, record.instructions, top=4)
    causes = answer.causes.set_index("cause")
    for module in plain.modules:
        of = plain.instructions["module"].to_numpy() == module
        cycles = plain.instructions["cycles"][of].sum()
        shares = {cause: plain.stack(cause)[of].sum() / cycles for cause in CAUSE_NAMES}
        assert causes[module].to_dict() == pytest.approx({name: shares[name] for name in causes.index})
    assert {name for name, share in shares.items() if share >= 0.0005} <= set(causes.index)


@SHAPES
def test_the_verdict_has_all_that_costs_much(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    kinds: dict[Any, list[dict[str, Any]]] = {}
    for group, rows in groups_of(record.instructions):
        of = plain.instructions["instruction"].isin(rows.index).to_numpy()
        stack = {cause: plain.stack(cause)[of].sum() for cause in CAUSE_NAMES}
        together = {causes: observation.title for causes, observation in diagnose(group, Evidence(record, rows))}
        left = [cause for cause in CAUSE_NAMES if cause not in WORK and not any(cause in c for c in together)]
        costs = {causes: sum(stack[cause] for cause in causes) for causes in [*together, *((cause,) for cause in left)]}
        if sum(stack[cause] for cause in WORK) >= max(costs.values()):
            costs[WORK] = sum(stack[cause] for cause in WORK)
        largest = max(costs, key=lambda causes: costs[causes])
        for causes, cycles in costs.items():
            if cycles < 0.005 * plain.total:
                continue
            felt = causes == largest and sum(stack.values()) >= 0.01 * plain.total
            cost = {"group": group, "causes": causes, "cycles": cycles, "stack": stack, "rows": of, "felt": felt}
            kind = causes if "no_work" in causes else (causes, together.get(causes))
            kinds.setdefault(kind, []).append(cost)
    kept = {
        frozenset(costs[0]["causes"]): sorted(costs, key=lambda cost: -cost["cycles"])
        for costs in kinds.values()
        if any(cost["felt"] for cost in costs) or sum(cost["cycles"] for cost in costs) >= 0.03 * plain.total
    }
    found = findings(record)
    assert [each.cycles for each in found] == sorted((each.cycles for each in found), reverse=True)
    outside = [name for name in ("host", "restarted") if plain.document["cycles"][name] >= 0.03 * plain.total]
    assert {each.cause: each.cycles for each in found if each.phase == "whole run"} == {
        name: plain.document["cycles"][name] for name in outside
    }
    inside = [each for each in found if each.phase != "whole run" and each.causes]
    assert {frozenset(each.causes) for each in inside} == set(kept)
    for each in inside:
        own = kept[frozenset(each.causes)]
        check_finding(each, own, plain)
        parts = own if len(own) > 1 else []
        assert len(each.parts) == len(parts)
        for part, its in zip(each.parts, parts, strict=True):
            check_finding(part, [its], plain)
            assert part.phase == str(its["group"])
    answer = explanation(record, record.instructions, top=2)
    told = [
        f"{cause_named(each.cause).letter} {each.title}: {each.share:.1%}, {each.cycles:,} cycles" for each in found
    ]
    assert [text.splitlines()[0] for text in answer.said[1:-2]] == told[:2]
    assert answer.said[-2].startswith("A share is the most that less of its cause can save")
    assert answer.said[-1] == f"cyscc explain {record.folder} --try measures which changes help, and how much"
    assert answer.document()["findings"] == json.loads(json.dumps([asdict(each) for each in found]))


def check_finding(finding: Finding, costs: list[dict[str, Any]], plain: Plain) -> None:
    """Check the numbers of a finding that some costs are summed in."""
    cycles = sum(cost["cycles"] for cost in costs)
    stack = {cause: sum(cost["stack"][cause] for cost in costs) for cause in CAUSE_NAMES}
    whole, causes = sum(stack.values()), costs[0]["causes"]
    assert finding.cycles == round(cycles)
    assert finding.share == pytest.approx(cycles / plain.total)
    assert finding.causes == pytest.approx({cause: stack[cause] for cause in causes})
    ranked = sorted(causes, key=lambda cause: -stack[cause])
    named = ", ".join(f"{cause} {stack[cause] / whole:.0%}" for cause in ranked if stack[cause] >= 0.005 * whole)
    counts = {
        noun: sum(cost["rows"].sum() for cost in costs if bool(cost["group"].part) == (noun == "level"))
        for noun in ("level", "intersection")
    }
    counted = " and ".join(f"{count:,} {noun}{'s' if count > 1 else ''}" for noun, count in counts.items() if count)
    text = f"{cycles / whole:.0%} of the kernel-cycles of {counted}"
    assert finding.text.startswith(f"{text} ({named})." if len(causes) > 1 else f"{text}.")
    if half := re.search(
        r"Half of them have at most ([\d,]+) entr.* mean is ([\d,.]+); each takes ([\d,]+) c", finding.text
    ):
        rows = plain.instructions[np.any([cost["rows"] for cost in costs], axis=0)]
        entries = rows["frontier"].sort_values()
        median = entries.iloc[(len(entries) - 1) // 2]
        assert half.groups() == (f"{median:,}", f"{entries.mean():,.1f}", f"{rows['cycles'].mean():,.0f}")
    else:
        assert len(costs) == 1 or "no_work" not in causes


@SHAPES
def test_the_whole_answer_is_as_pinned(shape: Shape, answers: Answers) -> None:
    record = record_of(shape)
    told = told_of_records(explanation(record, record.instructions), {str(record.folder): "RECORD"})
    for by in ("iteration", "level", "engine", "kernel", "interval"):
        told += f"by {by}: {line_of(stacks(record, record.instructions, by).to_dict('records'))}\n"
    answers("components" if shape.iterations else "search", told)


def test_parts_of_a_search() -> None:
    full, small = (record_of(Shape(levels=levels)) for levels in ((150, 700, 3000, 400, 120), (60, 150, 80, 60)))
    assert full.instructions["part"].tolist() == [GROWING, GROWING, SATURATED, ENDING, ENDING]
    assert [str(group) for group, _ in groups_of(full.instructions)] == [
        f"forward, {part} levels" for part in (GROWING, SATURATED, ENDING)
    ]
    # One that never fills the machine ends after its peak.
    assert small.instructions["part"].tolist() == [GROWING, GROWING, ENDING, ENDING]


def test_a_memory_without_banks() -> None:
    record = record_of(Shape(memory="fixed:75"))
    evidence = Evidence(record, record.instructions)
    assert evidence.hottest(3) == []
    assert (evidence.bank, evidence.links, evidence.banks_use) == (None, None, 0.0)
    assert evidence.turn == 16  # two AEs of two kernels
