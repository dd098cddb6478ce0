"""Tables and documents of explanations, compared with sums made by pandas alone."""

import re
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cyscc.host.analysis.explain.advice import array_text, diagnose
from cyscc.host.analysis.explain.comparison import compare
from cyscc.host.analysis.explain.comparison_page import comparison_document, difference_page
from cyscc.host.analysis.explain.evidence import Evidence, evidence_of
from cyscc.host.analysis.explain.page import (
    explanation_document,
    fifo_section,
    head,
    page,
)
from cyscc.host.analysis.explain.stacks import groups_of
from cyscc.host.analysis.explain.terminal import LETTERS, as_text, bar
from cyscc.host.analysis.explain.verdict import findings
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
    assert tables["cycles by phase"][1:] == [
        [", ".join(filter(None, (row["phase"], row["part"]))), f"{row['instructions']:,}", *cells(row, plain.total)]
        for _, row in phases.iterrows()
    ]
    (title,) = (title for title in tables if title.startswith("cycles by level"))
    heaviest = frame.sort_values("cycles", ascending=False, kind="stable").head(7).sort_index()
    if len(frame) > 7:
        share = heaviest["cycles"].sum() / frame["cycles"].sum()
        assert title == f"cycles by level: the 7 heaviest of {len(frame)}, {share:.0%} of these cycles"
    keys = ["iteration", "phase", "level"] if shape.iterations else ["level"]
    assert tables[title][0] == [*keys, "cycles", "of run", "most", "stack"]
    assert tables[title][1:] == [
        [*(str(row[key]) for key in keys if key != "level" or row[key] >= 0), *cells(row, plain.total)]
        for _, row in heaviest.iterrows()
    ]


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
        title = (
            f"hottest banks, {evidence.module} (controller.bank; all banks together are {evidence.banks_use:.0%} busy)"
        )
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
        assert rows[0] == ["FIFO", "depth", "most", "of depth", "mean", "try", "when most"]
        for row, fifo in zip(rows[1:], evidence.fifos, strict=True):
            share = fifo.most / fifo.depth
            numbers = [f"{fifo.depth}", f"{fifo.most}", f"{share:.0%}", f"{fifo.mean:.1f}", f"{fifo.proposed}"]
            assert row[:6] == [fifo.parameter, *numbers]
            assert (row[-1] == "full") == (share >= 0.9)


@SHAPES
def test_the_verdict_has_all_that_costs_much(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    expected = {
        ("whole run", name): float(plain.document["cycles"][name])
        for name in ("host", "restarted")
        if plain.document["cycles"][name] >= 0.03 * plain.total
    }
    texts = {}
    for group, rows in groups_of(record.instructions):
        evidence = Evidence(record, rows)
        of = plain.instructions["instruction"].isin(rows.index).to_numpy()
        stack = {cause: plain.stack(cause)[of].sum() for cause in CAUSE_NAMES}
        together = [causes for causes, _ in diagnose(group, evidence)]
        left = [cause for cause in CAUSE_NAMES if cause not in WORK and not any(cause in c for c in together)]
        single: list[tuple[str, ...]] = [(cause,) for cause in left]
        if sum(stack[cause] for cause in WORK) >= 0.7 * sum(stack.values()):
            single.append(WORK)
        costs = {causes: sum(stack[cause] for cause in causes) for causes in [*together, *single]}
        largest = max(costs, key=lambda causes: costs[causes])
        for causes, cycles in costs.items():
            felt = causes == largest and sum(stack.values()) >= 0.01 * plain.total
            if felt or cycles >= 0.03 * plain.total:
                where = str(group), max(causes, key=lambda cause: stack[cause])
                expected[where] = cycles
                whole = sum(stack.values())
                ranked = sorted(causes, key=lambda cause: -stack[cause])
                named = ", ".join(
                    f"{cause} {stack[cause] / whole:.0%}" for cause in ranked if stack[cause] >= 0.005 * whole
                )
                noun = f"{'level' if group.part else 'intersection'}{'s' if len(rows) > 1 else ''}"
                texts[where] = f"{cycles / whole:.0%} of the kernel-cycles of {len(rows)} {noun}"
                texts[where] += f" ({named})." if len(causes) > 1 else "."
    found = findings(record)
    assert {(each.phase, each.cause): each.cycles for each in found} == {
        where: round(cycles) for where, cycles in expected.items()
    }
    for each in found:
        assert each.share == pytest.approx(expected[each.phase, each.cause] / plain.total)
        if each.phase != "whole run":
            assert each.text.startswith(texts[each.phase, each.cause])
    for top in (99, 2):
        text = as_text(page(record, record.instructions, by=None, top=top), width=2000).split("\nverdict\n")[1]
        assert [line.strip() for line in text.splitlines()] == [
            line
            for each in found[:top]
            for line in (
                f"{LETTERS[each.cause]} {each.title}: {each.share:.1%}, {each.cycles:,} cycles",
                each.text,
                *([f"-> {each.advice}"] if each.advice else []),
            )
        ]


def test_tables_of_a_difference() -> None:
    plains = [plain_of(shape) for shape in (BFS, OTHER)]
    comparison = compare(*(record_of(shape) for shape in (BFS, OTHER)))
    tables = shown(difference_page(comparison, top=4))
    stacks = np.zeros((2, 6, len(CAUSE_NAMES)))
    cycles = np.zeros((2, 6), int)
    outside = np.zeros((2, len(CAUSE_NAMES)))
    for run, plain in enumerate(plains):
        levels = plain.instructions["level"].to_numpy()
        stacks[run, levels] = np.array([plain.stack(cause) for cause in CAUSE_NAMES]).T
        cycles[run, levels] = plain.instructions["cycles"]
        took = plain.document["cycles"]
        outside[run, CAUSE_NAMES.index("host")] = took["host"] + took["readout"]
        outside[run, CAUSE_NAMES.index("restarted")] = took["restarted"]
    more, first = stacks[1] - stacks[0], plains[0].total

    def why(causes: Any) -> str:
        ranked = sorted(zip(CAUSE_NAMES, causes, strict=True), key=lambda each: -abs(each[1]))
        return ", ".join(f"{name} {value:+,.0f}" for name, value in ranked[:3] if abs(value) >= 0.5)

    def line(name: str, taken: list[int], causes: Any) -> list[str]:
        one, other = taken
        difference = [f"{one:,}", f"{other:,}", f"{other - one:+,}", f"{(other - one) / first:+.1%}"]
        return [name, *difference, *filter(None, [why(causes)])]

    whole = dict(zip(CAUSE_NAMES, more.sum(axis=0) + outside[1] - outside[0], strict=True))
    assert comparison.causes == pytest.approx(whole)
    ranked = sorted(whole.items(), key=lambda each: -abs(each[1]))
    assert tables["by cause, in cycles of an average kernel"][1:] == [
        [LETTERS[name], name, cause_named(name).title, f"{value:+,.0f}", f"{value / first:+.1%}"]
        for name, value in ranked
        if abs(value) >= 0.5
    ]
    assert tables["by phase"][1:] == [line("forward", cycles.sum(axis=1).tolist(), more.sum(axis=0))]
    most = np.sort(np.argsort(-abs(cycles[1] - cycles[0]), kind="stable")[:4])
    rows = tables["by level: the 4 of 6 that differ most"]
    assert rows[1:] == [line(str(level), cycles[:, level].tolist(), more[level]) for level in most]
    document = comparison_document(comparison)
    assert document["difference"] == plains[1].total - first
    assert document["causes"] == pytest.approx(whole, abs=1e-3)
    for row, level, causes in zip(document["levels"], range(6), more, strict=True):
        assert [row[name] for name in ("level", "first_cycles", "second_cycles")] == [level, *cycles[:, level]]
        assert list(row["causes"].values()) == pytest.approx(causes, abs=1e-3)


def test_a_part_of_a_difference_has_nothing_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (record_of(shape) for shape in (BFS, OTHER))
    part = compare(first, second, level=1)
    assert part.outside == {"host": 0, "restarted": 0}
    assert part.levels["difference"].tolist() == [200]
    assert "the graphs are not the same" not in as_text(difference_page(part, top=3), width=170)
    assert compare(first, first).settings == {}
    with monkeypatch.context() as patch:
        patch.setitem(second.document["run"], "digest", "another")
        assert "the graphs are not the same" in as_text(difference_page(part, top=3), width=170)
        assert not comparison_document(part)["same_graph"]
    assert comparison_document(part)["same_graph"]
    settings = compare(first, second).settings
    assert settings["engines"] == (first.document["configuration"]["engines"], 1)
    assert all(one != other for one, other in settings.values())


@SHAPES
def test_documents_of_an_explanation(shape: Shape) -> None:
    record = record_of(shape)
    document = explanation_document(record, record.instructions, "level", banks=2)
    assert document["cycles"] == record.document["cycles"]
    assert [row["cycles"] for row in document["stacks"]] == record.instructions["cycles"].tolist()
    assert document["findings"] == [asdict(each) for each in findings(record)]
    for evidence in evidence_of(record):
        found = document["modules"][evidence.module]
        assert (found["instructions"], found["cycles"]) == (len(evidence.rows), evidence.cycles)
        assert found["causes"] == pytest.approx(evidence.stack, abs=1e-3)
        assert found["banks"] == [asdict(each) for each in evidence.hottest(2)]
        assert found["links"] == asdict(evidence.links)  # type: ignore[arg-type]
        assert found["latency"] == asdict(evidence.latency)  # type: ignore[arg-type]
        assert [each["proposed"] for each in found["fifos"]] == [each.proposed for each in evidence.fifos]
