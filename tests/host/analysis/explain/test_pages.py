"""Tables and documents of explanations, compared with sums made by pandas alone."""

import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cyscc.host.analysis.explain.comparison import compare
from cyscc.host.analysis.explain.comparison_page import comparison_document, difference_page
from cyscc.host.analysis.explain.evidence import Evidence, evidence_of
from cyscc.host.analysis.explain.observations import array_text, diagnose
from cyscc.host.analysis.explain.page import (
    explanation_document,
    fifo_section,
    head,
    numbers_text,
    page,
)
from cyscc.host.analysis.explain.stacks import groups_of
from cyscc.host.analysis.explain.terminal import LETTERS, as_text, bar
from cyscc.host.analysis.explain.verdict import Finding, bound_of, findings
from cyscc.host.record.colours import STACK
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK, cause_named
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.record.plain import Plain
from tests.record.synthetic import Shape

SHAPES = pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
OTHER = Shape(config="hc2-1ae", levels=(150, 900, 1100, 400, 120, 70), seed=5)
IN_ORDER = ["forward", "backward", "intersection", "growing", "saturated", "ending", ""]


def shown(parts: Any) -> dict[str, list[list[str]]]:
    """Return the cells of each section's lines, by its title; of columns that are apart by two spaces."""
    blocks = as_text(parts, width=170).strip("\n").split("\n\n")
    return {
        title: [re.split(r" {2,}", line.strip()) for line in lines]
        for title, *lines in (block.splitlines() for block in blocks)
    }


def framed(plain: Plain, parts: list[str]) -> pd.DataFrame:
    """Return the instructions with their cycles by cause, of an average kernel."""
    frame = plain.instructions.reset_index(drop=True)
    return frame.assign(**{cause: plain.stack(cause) for cause in CAUSE_NAMES}, instructions=1, part=parts)


def cells(row: "pd.Series[Any]", total: int) -> list[str]:
    """Return the displayed parts of a stack."""
    stack = {cause: float(row[cause]) for cause in CAUSE_NAMES}
    most = max(stack, key=lambda cause: stack[cause])
    whole = sum(stack.values())
    text = f"{most} {stack[most] / whole:.0%}"
    return [f"{row['cycles']:,}", f"{row['cycles'] / total:.1%}", text, bar(stack, 40).plain]


@SHAPES
def test_tables_of_stacks(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    tables = shown(page(record, record.instructions, by=None, top=7))
    frame = framed(plain, record.instructions["part"].tolist())
    numbers = ["cycles", "instructions", *CAUSE_NAMES]
    phases = frame.groupby(["phase", "part"])[numbers].sum().reset_index()
    phases = phases.sort_values(["phase", "part"], key=lambda names: names.map(IN_ORDER.index))
    outside = {"host": ("host", "h"), "restarted": ("given up", "!"), "readout": ("reading out", "h")}
    took = plain.document["cycles"]
    assert tables["cycles by phase"][1:] == [
        *(
            [", ".join(filter(None, (row["phase"], row["part"]))), f"{row['instructions']:,}", *cells(row, plain.total)]
            for _, row in phases.iterrows()
        ),
        *(
            [title, f"{took[name]:,}", f"{took[name] / plain.total:.1%}", 40 * letter]
            for name, (title, letter) in outside.items()
            if took[name]
        ),
    ]
    (title,) = (title for title in tables if title.startswith("cycles by level"))
    heaviest = frame.sort_values("cycles", ascending=False, kind="stable").head(7).sort_index()
    if len(frame) > 7:
        share = heaviest["cycles"].sum() / frame["cycles"].sum()
        assert title == f"cycles by level: the 7 heaviest of {len(frame):,}, {share:.0%} of these cycles"
    keys = ["iteration", "phase", "level"] if shape.iterations else ["level"]
    assert tables[title][0] == [*keys, "cycles", "of run", "stack", "bound by, of the level"]
    for line, (_, row) in zip(tables[title][1:], heaviest.iterrows(), strict=True):
        cycles, of_run, _, _ = cells(row, plain.total)
        stack = bar({cause: float(row[cause]) for cause in CAUSE_NAMES}, 20).plain
        shown_keys = [str(row[key]) for key in keys if key != "level" or row[key] >= 0]
        assert line == [*shown_keys, cycles, of_run, stack, line[-1]]
        check_bound(line[-1], plain, row)


def check_bound(text: str, plain: Plain, row: "pd.Series[Any]") -> None:
    """Check every number of the text on what bounds a level, given the level's stack."""
    module = "intersection" if row["phase"] == "intersection" else "bfs"
    work = sum(row[cause] for cause in WORK) / row["cycles"]
    limits = {cause: float(row[cause]) / row["cycles"] for cause in CAUSE_NAMES if cause not in WORK}
    small = sum(limits[name] for name in ("no_work", "response", "starting", "ending", "flush"))
    contended = sum(limits[name] for name in ("refused", "response", "credit"))
    if issuing := re.match(r"issuing requests (\d+%)(, |$)", text):
        assert issuing[1] == f"{work:.0%}"
        text = text[issuing.end() :]
    if not text:
        return
    bound = re.fullmatch(r"(.+) (\d+%): (.+)", text)
    assert bound is not None
    title, share, numbers = bound.groups()
    named = {cause_named(name).title: value for name, value in limits.items()}
    grouped = small if title.startswith("fixed cost") else contended
    assert share == f"{named.get(title, grouped):.0%}"
    assert bool(issuing) == (work >= named.get(title, grouped))
    if title in named:
        assert named[title] <= max(limits.values())
    if found := re.fullmatch(r"([\d,]+) entr(y|ies) for (\d+) kernels", numbers):
        assert (int(found[1]), int(found[3])) == (row["frontier"], plain.kernels(module))
    elif found := re.fullmatch(r"the last kernel works (.+)x the mean", numbers):
        done = plain.of("instruction_kernels", instruction=row["instruction"])["done"]
        assert found[1] == f"{done.max() / done.mean():.1f}"
    elif found := re.fullmatch(r"reads take (\d+) cycles, (\d+) at best", numbers):
        reads = plain.of("instruction_latencies", instruction=row["instruction"])
        mean = (reads["latency"] * reads["reads"]).sum() / reads["reads"].sum()
        assert found.groups() == (f"{mean:.0f}", str(reads["latency"].min()))
    elif found := re.fullmatch(r"(\d+)\.(\d+) is (\d+%) busy, all banks (\d+%)", numbers):
        memory = plain.machine["memory"]
        accesses = plain.of("instruction_banks", instruction=row["instruction"])
        own = accesses.groupby(["controller", "bank"])["accesses"].sum()
        busy = memory["bank_busy"] / row["cycles"]
        assert own[int(found[1]), int(found[2])] == own.max()
        assert found[3] == f"{min(own.max() * busy, 1):.0%}"
        assert found[4] == f"{own.sum() / memory['controllers'] / memory['banks'] * busy:.0%}"
    elif found := re.fullmatch(r"([\d,]+) cycles?", numbers):
        (cause,) = (name for name in limits if cause_named(name).title == title)
        assert found[1] == f"{row[cause]:,.0f}"
    else:
        assert numbers.startswith(("links are", "a turn of the token is"))


@SHAPES
def test_numbers(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    frame = framed(plain, record.instructions["part"].tolist())
    for by, top in (("level", None), ("phase", None), ("kernel", 3)):
        empty, title, head, *lines = numbers_text(record, record.instructions, by, top).splitlines()
        assert (empty, title.split(",")[0].split(":")[0]) == ("", f"cycles by {by}")
        names = re.split(r" {2,}", head.strip())
        causes = names[names.index("of run") + 1 :]
        assert causes == [cause for cause in STACK if cause in causes]
        assert all(frame[cause].sum() == 0 for cause in CAUSE_NAMES if cause not in causes) or top
        rows = [re.split(r" {2,}", line.strip()) for line in lines]
        if top:
            assert len(rows) == top
            continue
        keys = ["iteration", "phase", "level"] if by == "level" else ["phase", "part"]
        expected = frame.groupby(keys, sort=False)[["cycles", *causes]].sum()
        assert sorted(row[-len(causes) - 2 :] for row in rows) == sorted(
            [
                f"{row['cycles']:,.0f}",
                f"{row['cycles'] / plain.total:.1%}",
                *(f"{row[cause]:,.0f}" for cause in causes),
            ]
            for _, row in expected.iterrows()
        )


@SHAPES
def test_iterations(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    tables = shown(page(record, record.instructions, by=None, top=7))
    titles = [title for title in tables if title.startswith("iterations")]
    if not shape.iterations:
        assert titles == []
        return
    rows = plain.instructions.assign(part=record.instructions["part"].tolist(), instructions=1)
    by = rows.groupby("iteration")[["instructions", "cycles"]].sum()
    reached = (rows["pushed"] - rows["duplicates"]).groupby([rows["iteration"], rows["phase"]]).sum().unstack() + 1
    by["vertices"] = reached[["forward", "backward"]].min(axis=1).astype(int)
    large = by.index.isin(rows[rows["part"] == "saturated"]["iteration"])
    if not large.any():
        large = by["cycles"] == by["cycles"].max()
    last = by.index[large].max()

    def line(name: str, chosen: Any) -> list[str]:
        own = by[chosen]
        cycles = own["cycles"].sum()
        share, each = f"{cycles / plain.total:.1%}", f"{cycles / len(own):,.0f}"
        return [name, f"{len(own):,}", f"{own['instructions'].sum():,}", f"{cycles:,}", share, each]

    groups = {
        "with saturated levels" if (rows["part"] == "saturated").any() else "the longest": large,
        f"others up to iteration {last:,}": ~large & (by.index <= last),
        f"the tail, after iteration {last:,}": by.index > last,
    }
    advice = " ".join(" ".join(row) for row in tables[titles[1]] if len(row) == 1)
    single, tail = by[by["vertices"] == 1], by[by.index > last]
    for own, pattern in (
        (single, r"Trim again between iterations: ([\d,]+) .*?, in ([\d,]+) cycles \((.+?)%"),
        (tail, r"the host finish after iteration .*?: ([\d,]+) iterations? .*? take ([\d,]+) cycles \((.+?)%"),
    ):
        cycles = own["cycles"].sum()
        told = re.search(pattern, advice)
        assert bool(told) == (cycles >= 0.03 * plain.total)
        if told is not None:
            assert told.groups() == (f"{len(own):,}", f"{cycles:,}", f"{100 * cycles / plain.total:.1f}")
    if told is not None:
        edges = rows[rows["iteration"] > last]["edges"].sum()
        end = f"at most {tail['vertices'].sum():,} vertices together; their searches traverse {edges:,} edges."
        assert f"{1e3 * tail['cycles'].sum() / plain.document['clock_hz']:,.3f} ms" in advice
        assert end in advice
    assert tables[titles[0]][1:] == [line(name, chosen) for name, chosen in groups.items() if any(chosen)]
    sizes = by["vertices"].astype(str).str.len().where(by["vertices"] > 1, 0)
    body = [row for row in tables[titles[1]][1:] if len(row) == 6]
    assert [row[1:] for row in body] == [line("", sizes == size)[1:] for size in sorted(set(sizes))]
    for row, size in zip(body, sorted(set(sizes)), strict=True):
        ends = [int(number.replace(",", "")) for number in row[0].split(" to ")]
        assert ends[0] in (by["vertices"][sizes == size].max(), 10 ** max(size - 1, 0) + (size == 1))
        assert ends[-1] == by["vertices"][sizes == size].max()


@SHAPES
def test_heads(shape: Shape) -> None:
    record, took = record_of(shape), plain_of(shape).document["cycles"]
    about = {"instructions": "in instructions", "host": "of the host between them"}
    about |= {"restarted": "of attempts given up", "readout": "to read the result"}
    parts = ", ".join(f"{took[name]:,} {text}" for name, text in about.items() if took[name])
    command = "scc" if shape.iterations else "bfs"
    lines = [
        f"{record.folder}: {command} of synthetic.gr, 5,000 vertices, 40,000 edges; test, memory hc2",
        f"{took['total']:,} cycles: {parts}",
    ]
    assert [str(line) for line in head(record, record.instructions)] == lines
    rows = record.select(level=1)
    share = rows["cycles"].sum() / took["total"]
    what = f"{len(rows)} instruction{'s' if len(rows) > 1 else ''} of {len(record.instructions)}"
    shown = f"shown: {what}, {rows['cycles'].sum():,} cycles, {share:.1%} of the run"
    assert [str(line) for line in head(record, rows)] == [*lines, shown]


@SHAPES
def test_tables_of_what_issues_least(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    tables = shown(page(record, record.instructions, by="kernel", top=3))
    assert [title.split(":")[0] for title in tables][1:3] == ["cycles by phase", "cycles by kernel"]
    title = list(tables)[2]
    keys = ["module", "engine", "kernel"]
    sums = plain.of("instruction_kernels").groupby(keys)[CAUSE_NAMES].sum()
    idle = sums.drop(columns=[*WORK]).sum(axis=1).nlargest(3)
    least = sums.loc[idle.index].sum().sum() / sums.sum().sum()
    assert title == f"cycles by kernel: the 3 that issue least of {len(sums)}, {least:.0%} of these cycles"
    head, *rows = tables[title]
    assert head == [*keys[len(plain.modules) < 2 :], "cycles", "of run", "most", "stack"]
    frame = sums.loc[sorted(idle.index)]
    frame.insert(0, "cycles", frame.sum(axis=1))
    expected = [[*map(str, key), *cells(row, plain.total)] for key, row in frame.astype(object).iterrows()]
    assert rows == [row[len(plain.modules) < 2 :] for row in expected]


@SHAPES
def test_tables_of_causes_and_banks(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    tables = shown(page(record, record.instructions, by="phase", top=4))
    shares = {}
    for module in plain.modules:
        of = plain.instructions["module"].to_numpy() == module
        cycles = plain.instructions["cycles"][of].sum()
        shares[module] = {cause: plain.stack(cause)[of].sum() / cycles for cause in CAUSE_NAMES}
    rows = tables["causes, of the instructions' kernel-cycles"]
    assert rows[0] == ["cause", *plain.modules]
    assert rows[1:] == [
        [LETTERS[cause], cause, cause_named(cause).title, *(f"{own[cause]:.1%}" for own in shares.values())]
        for cause in STACK
        if max(own[cause] for own in shares.values()) >= 0.0005
    ]
    for evidence in evidence_of(record):
        frame = plain.of("instruction_banks")
        frame = frame[(frame["phase"] == "intersection") == (evidence.module == "intersection")]
        accesses = frame.groupby(["controller", "bank"])["accesses"].sum()
        memory = plain.machine["memory"]
        multiple = accesses.max() / (accesses.sum() / memory["controllers"] / memory["banks"])
        controller, bank = evidence.hottest(1)[0].controller, evidence.hottest(1)[0].bank
        over_time = plain.tables["banks"].query(f"controller == {controller} and bank == {bank}")
        peak = over_time["accesses"].max() * memory["bank_busy"] / shape.interval
        title = (
            f"hottest banks, {evidence.module} (controller.bank; all banks together are {evidence.banks_use:.0%} busy)"
        )
        if multiple < 1.5 or peak < 0.7:
            cycles = plain.instructions.query(f"module == '{evidence.module}'")["cycles"].sum()
            use = accesses.max() * memory["bank_busy"] / cycles
            assert " ".join(" ".join(row) for row in tables[title]) == (
                f"no hot bank: the busiest, {controller}.{bank}, has {multiple:.1f}x the accesses of the mean, is busy "
                f"{min(use, 1):.0%} of the time, and at most {min(peak, 1):.0%} in {shape.interval:,} cycles"
            )
            continue
        assert tables[title][0] == ["bank", "accesses", "of mean", "busy", "wait", "arrays", "when most"]
        expected = []
        for each in evidence.hottest(4):
            when = plain.instructions.set_index("instruction").loc[each.instruction]
            where = [f"iteration {when['iteration']}, "] if when["iteration"] else []
            if when["level"] < 0:
                where.append(when["phase"])
            else:
                where.append(f"{when['phase']} level {when['level']}" if where else f"level {when['level']}")
            use = [f"{each.multiple:.1f}x", f"{min(each.use, 1):.0%}", f"{each.waiting:.0f}", array_text(each)]
            name = f"{each.controller}.{each.bank}"
            expected.append([name, f"{each.accesses:,}", *use, f"{''.join(where)}, cycle {each.cycle:,}"])
        assert tables[title][1:] == expected


@SHAPES
def test_tables_of_fifos(shape: Shape) -> None:
    record = record_of(shape)
    tables = shown(fifo_section(record, record.instructions))
    for evidence in evidence_of(record):
        rows = tables[f"FIFOs, {evidence.module}"]
        assert rows[0] == ["FIFO", "depth", "most", "of depth", "mean", "when most"]
        for row, fifo in zip(rows[1:], evidence.fifos, strict=True):
            share = fifo.most / fifo.depth
            numbers = [f"{fifo.depth}", f"{fifo.most}", f"{share:.0%}", f"{fifo.mean:.1f}"]
            assert row[:5] == [fifo.parameter, *numbers]
            assert (row[-1] == "at least 90% full") == (share >= 0.9)


@SHAPES
def test_the_verdict_has_all_that_costs_much(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    kinds: dict[Any, list[dict[str, Any]]] = {}
    for group, rows in groups_of(record.instructions):
        of = plain.instructions["instruction"].isin(rows.index).to_numpy()
        stack = {cause: plain.stack(cause)[of].sum() for cause in CAUSE_NAMES}
        together = {causes: observation.title for causes, observation in diagnose(group, Evidence(record, rows))}
        left = [cause for cause in CAUSE_NAMES if cause not in WORK and not any(cause in c for c in together)]
        single: list[tuple[str, ...]] = [(cause,) for cause in left]
        if sum(stack[cause] for cause in WORK) >= 0.7 * sum(stack.values()):
            single.append(WORK)
        costs = {causes: sum(stack[cause] for cause in causes) for causes in [*together, *single]}
        largest = max(costs, key=lambda causes: costs[causes])
        for causes, cycles in costs.items():
            if cycles < 0.005 * plain.total:
                continue
            title = together.get(causes, cause_named(causes[0]).title).replace("intersections", "levels")
            felt = causes == largest and sum(stack.values()) >= 0.01 * plain.total
            cost = {"group": group, "causes": causes, "cycles": cycles, "stack": stack, "rows": of, "felt": felt}
            kinds.setdefault("issuing requests" if causes == WORK else title, []).append(cost)
    outside = [name for name in ("host", "restarted") if plain.document["cycles"][name] >= 0.03 * plain.total]
    kept = {
        title: sorted(costs, key=lambda cost: -cost["cycles"])
        for title, costs in kinds.items()
        if any(cost["felt"] for cost in costs) or sum(cost["cycles"] for cost in costs) >= 0.03 * plain.total
    }
    found = findings(record)
    assert [each.cycles for each in found] == sorted((each.cycles for each in found), reverse=True)
    assert {each.cause: each.cycles for each in found if each.phase == "whole run"} == {
        name: plain.document["cycles"][name] for name in outside
    }
    inside = [each for each in found if each.phase != "whole run"]
    assert len(inside) == len(kept)
    for each in inside:
        title = each.title.split(": ", 1)[1].replace("intersections", "levels")
        check_finding(each, kept[title], plain)
        parts = kept[title] if len(kept[title]) > 1 else []
        assert len(each.parts) == len(parts)
        for part, cost in zip(each.parts, parts, strict=True):
            check_finding(part, [cost], plain)
            assert part.phase == str(cost["group"])
    for top in (99, 2):
        text = as_text(page(record, record.instructions, by=None, top=top), width=2000).split("\nverdict\n")[1]
        lines = [line.strip() for line in text.splitlines()]
        told = [line for each in found[:top] for line in lines_of(each, each.title)]
        assert lines == [*told, f"cyscc explain {record.folder} --try measures which changes help, and how much"]


def lines_of(finding: Finding, title: str) -> list[str]:
    """Return the displayed lines of a finding and its parts."""
    head = f"{LETTERS[finding.cause]} {title}: {finding.share:.1%}, {finding.cycles:,} cycles"
    below = [line for part in finding.parts for line in lines_of(part, part.phase.capitalize())]
    return [head, finding.text, *(f"-> {line}" for line in finding.advice.splitlines()), *below]


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
        r"alf of them have at most ([\d,]+) entr.* mean is ([\d,.]+); each takes ([\d,]+) c", finding.text
    ):
        rows = plain.instructions[np.any([cost["rows"] for cost in costs], axis=0)]
        entries = rows["frontier"].sort_values()
        median = entries.iloc[(len(entries) - 1) // 2]
        assert half.groups() == (f"{median:,}", f"{entries.mean():,.1f}", f"{rows['cycles'].mean():,.0f}")
    else:
        assert len(costs) == 1 or "no_work" not in causes


def test_tables_of_a_difference() -> None:
    plains = [plain_of(shape) for shape in (BFS, OTHER)]
    comparison = compare(*(record_of(shape) for shape in (BFS, OTHER)))
    tables = shown(difference_page(comparison, top=4))
    stacks = np.zeros((2, 6, len(CAUSE_NAMES)))
    cycles = np.zeros((2, 6), int)
    for run, plain in enumerate(plains):
        levels = plain.instructions["level"].to_numpy()
        stacks[run, levels] = np.array([plain.stack(cause) for cause in CAUSE_NAMES]).T
        cycles[run, levels] = plain.instructions["cycles"]
    more, first = stacks[1] - stacks[0], cycles[0].sum()

    def why(causes: Any) -> str:
        ranked = sorted(zip(CAUSE_NAMES, causes, strict=True), key=lambda each: -abs(each[1]))
        return ", ".join(f"{name} {value:+,.0f}" for name, value in ranked[:3] if abs(value) >= 0.5)

    def line(name: str, taken: list[int], causes: Any) -> list[str]:
        one, other = taken
        own = f"{(other - one) / one:+.1%}" if one else ""
        difference = [f"{one:,}", f"{other:,}", f"{other - one:+,}", own, f"{(other - one) / first:+.1%}"]
        return [*filter(None, [name, *difference, why(causes)])]

    whole = dict(zip(CAUSE_NAMES, more.sum(axis=0), strict=True))
    assert comparison.causes == pytest.approx(whole)
    assert [line[:4] for line in tables["cycles of the runs"][1:]] == [
        [name, f"{one:,}", f"{other:,}", f"{other - one:+,}"]
        for name, (one, other) in {
            "instructions": (first, cycles[1].sum()),
            "the host": [plain.total - its.sum() for plain, its in zip(plains, cycles, strict=True)],
            "total": [plain.total for plain in plains],
        }.items()
    ]
    ranked = sorted(whole.items(), key=lambda each: -abs(each[1]))
    assert [line[:-1] for line in tables["by cause, in cycles of an average kernel"][1:]] == [
        [LETTERS[name], name, cause_named(name).title, f"{value:+,.0f}"] for name, value in ranked if abs(value) >= 0.5
    ]
    assert tables["by phase"][1:] == [line("forward", cycles.sum(axis=1).tolist(), more.sum(axis=0))]
    most = np.sort(np.argsort(-abs(cycles[1] - cycles[0]), kind="stable")[:4])
    rows = tables["by level: the 4 of 6 that differ most"]
    assert rows[0] == ["level", "first", "second", "difference", "of level", "of run", "why"]
    assert rows[1:] == [line(str(level), cycles[:, level].tolist(), more[level]) for level in most]
    document = comparison_document(comparison)
    assert document["difference"] == cycles[1].sum() - first
    assert document["causes"] == pytest.approx(whole, abs=1e-3)
    for row, level, causes in zip(document["levels"], range(6), more, strict=True):
        assert [row[name] for name in ("level", "first_cycles", "second_cycles")] == [level, *cycles[:, level]]
        assert list(row["causes"].values()) == pytest.approx(causes, abs=1e-3)


@SHAPES
def test_documents_of_an_explanation(shape: Shape) -> None:
    record = record_of(shape)
    document = explanation_document(record, record.instructions, "level", banks=2)
    assert document["cycles"] == record.document["cycles"]
    assert [row["cycles"] for row in document["stacks"]] == record.instructions["cycles"].tolist()
    assert document["findings"] == [asdict(each) for each in findings(record)]
    heaviest = record.instructions["cycles"].nlargest(2).index.sort_values()
    assert [(row["level"], row["cycles"], row["bound"]) for row in document["bounds"]] == [
        (each["level"], each["cycles"], bound_of(record, record.instructions.loc[[place]]))
        for place, each in record.instructions.loc[heaviest].iterrows()
    ]
    assert ("iterations" in document) == bool(shape.iterations)
    for evidence in evidence_of(record):
        found = document["modules"][evidence.module]
        assert (found["instructions"], found["cycles"]) == (len(evidence.rows), evidence.cycles)
        assert found["causes"] == pytest.approx(evidence.stack, abs=1e-3)
        assert found["banks"] == [asdict(each) for each in evidence.hottest(2)]
        assert found["links"] == asdict(evidence.links)  # type: ignore[arg-type]
        assert found["latency"] == asdict(evidence.latency)  # type: ignore[arg-type]
        assert found["fifos"] == [asdict(fifo) for fifo in evidence.fifos]
