"""Numbers of explanations, compared with sums of the record's tables made by pandas alone."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from cyscc.host.analysis.explain.evidence import Evidence, evidence_of
from cyscc.host.analysis.explain.stacks import groups_of, stacks
from cyscc.host.record.reader import ENDING, GROWING, SATURATED
from cyscc.sim.observation.causes import CAUSE_NAMES, WORK
from tests.host.analysis.explain.test_explanation import SHAPES, framed
from tests.host.analysis.report.pages import plain_of, record_of
from tests.record.synthetic import Shape


@SHAPES
@pytest.mark.parametrize("by", ["iteration", "level"])
def test_stacks_of_instructions(shape: Shape, by: str) -> None:
    record, plain = record_of(shape), plain_of(shape)
    keys = {"iteration": ["iteration", "phase"], "level": ["iteration", "phase", "level"]}[by]
    frame = framed(plain, record.instructions["part"].tolist())
    expected = frame.groupby(keys)[["cycles", "instructions", *CAUSE_NAMES]].sum().sort_index()
    found = stacks(record, record.instructions, by).set_index(keys).sort_index()
    assert found.index.tolist() == expected.index.tolist()
    for name in expected:
        assert found[name].to_numpy() == pytest.approx(expected[name].to_numpy()), name


@SHAPES
@pytest.mark.parametrize("by", ["engine", "kernel"])
def test_stacks_of_kernels(shape: Shape, by: str) -> None:
    record, plain = record_of(shape), plain_of(shape)
    keys = ["module", "engine"] if by == "engine" else ["module", "engine", "kernel"]
    rows = plain.of("instruction_kernels")
    found = stacks(record, record.instructions, by)
    assert len(found) == len(rows[keys].drop_duplicates())
    for row in found.to_dict("records"):
        own = rows
        for key in keys:
            own = own[own[key] == row[key]]
        sums = own[CAUSE_NAMES].sum() / own["kernel"].nunique()
        assert [row[name] for name in CAUSE_NAMES] == pytest.approx(sums.tolist())
        assert row["cycles"] == round(sums.sum())
        assert row["instructions"] == own["instruction"].nunique()


@SHAPES
def test_stacks_of_intervals(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    some = record.select(level=1)
    found = stacks(record, some, "interval").set_index(["module", "cycle"])
    rows = plain.of("kernels")
    own = plain.instructions[plain.instructions["level"] == 1]
    starts = own["start"].to_numpy()
    ends = starts + own["cycles"].to_numpy()
    cycles = np.unique(rows["cycle"])
    ran = [cycle for cycle in cycles if np.any((starts < cycle + record.interval) & (ends > cycle))]
    means = rows[rows["cycle"].isin(ran)].groupby(["module", "cycle"])[CAUSE_NAMES].mean()
    assert found.index.tolist() == means.index.tolist()
    for name in CAUSE_NAMES:
        assert found[name].to_numpy() == pytest.approx(means[name].to_numpy()), name


@SHAPES
def test_hottest_banks(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    busy, banks = plain.machine["memory"]["bank_busy"], plain.machine["memory"]["banks"]
    for evidence in evidence_of(record):
        own = plain.instructions[plain.instructions["module"] == evidence.module]
        rows = plain.of("instruction_banks")
        rows = rows[rows["instruction"].isin(own["instruction"])]
        totals = rows.groupby(["controller", "bank"])["accesses"].sum().sort_values(ascending=False)
        mean = totals.sum() / (plain.machine["memory"]["controllers"] * banks)
        assert evidence.banks_use == pytest.approx(mean * busy / own["cycles"].sum())
        found = evidence.hottest(7)
        assert [bank.accesses for bank in found] == totals.head(7).tolist()
        for bank in found:
            its = rows[(rows["controller"] == bank.controller) & (rows["bank"] == bank.bank)]
            assert bank.arrays == its.groupby("array")["accesses"].sum().to_dict()
            assert list(bank.arrays.values()) == sorted(bank.arrays.values(), reverse=True)
            assert bank.waiting == pytest.approx(its["waiting"].sum() / its["accesses"].sum())
            assert bank.use == pytest.approx(bank.accesses * busy / own["cycles"].sum())
            assert bank.multiple == pytest.approx(bank.accesses / mean)
            by_instruction = its.groupby("instruction")["accesses"].sum()
            assert by_instruction[bank.instruction] == by_instruction.max()
            over_time = plain.of("banks", controller=bank.controller, bank=bank.bank).set_index("cycle")["accesses"]
            assert over_time[bank.cycle] == over_time.max()
            length = min(record.interval, plain.total - bank.cycle)
            assert bank.peak == pytest.approx(over_time.max() * busy / length)


@SHAPES
def test_links(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    rows = plain.of("links")
    for evidence in evidence_of(record):
        own = plain.instructions[plain.instructions["module"] == evidence.module]
        # Of an interval that several share each has its part.
        begin = np.unique(rows["cycle"])[:, None]
        end = np.minimum(begin + record.interval, plain.total)
        starts, ends = own["start"].to_numpy(), (own["start"] + own["cycles"]).to_numpy()
        shared = (np.minimum(ends, end) - np.maximum(starts, begin)).clip(0).sum(axis=1) / (end - begin)[:, 0]
        weights = rows["cycle"].map(dict(zip(begin[:, 0], shared, strict=True)))
        requests = (rows["requests"] * weights).groupby([rows["engine"], rows["link"]]).sum()
        cycles, links = own["cycles"].sum(), plain.engines * plain.machine["memory"]["links"]
        assert evidence.links is not None
        assert asdict(evidence.links) == pytest.approx(
            {
                "mean": requests.sum() / links / cycles,
                "most": requests.max() / cycles,
                "engine": requests.idxmax()[0],
                "link": requests.idxmax()[1],
                "waiting": (rows["waiting"] * weights).sum() / requests.sum(),
            }
        )


@SHAPES
def test_fifos_and_latencies(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    for evidence in evidence_of(record):
        own = plain.instructions[plain.instructions["module"] == evidence.module]
        cycles, kernels = own["cycles"].sum(), plain.kernels(evidence.module)
        rows = plain.of("instruction_latencies")
        rows = rows[rows["instruction"].isin(own["instruction"])]
        every = np.repeat(rows["latency"].to_numpy(int), rows["reads"].to_numpy(int))
        median, high = (int(np.quantile(every, share, method="inverted_cdf")) for share in (0.5, 0.99))
        assert evidence.latency is not None
        found = {"least": every.min(), "median": median, "high": high, "most": every.max(), "mean": every.mean()}
        assert asdict(evidence.latency) == pytest.approx(found)
        causes = plain.of("instruction_kernels", module=evidence.module)[CAUSE_NAMES].sum() / kernels
        working = cycles - causes[["starting", "ending", "no_work", "flush"]].sum()
        sizes = plain.machine["fifos"][evidence.module]
        assert [(fifo.name, fifo.parameter, fifo.depth) for fifo in evidence.fifos] == [
            (size["name"], size["parameter"], size["depth"]) for size in sizes
        ]
        for fifo, size in zip(evidence.fifos, sizes, strict=True):
            its = plain.of("instruction_fifos", module=evidence.module, fifo=fifo.name).set_index("instruction")
            assert (fifo.most, fifo.instruction) == (its["most"].max(), its["most"].idxmax())
            assert fifo.mean == pytest.approx(its["fill"].sum() / kernels / cycles)
            under_way = causes[size["answers"]] * every.mean() / working if size["answers"] else None
            assert fifo.under_way == (under_way if under_way is None else pytest.approx(under_way))
            assert fifo.promised == math.ceil(2 * (under_way or 0))


@SHAPES
def test_waiting_in_order(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    for evidence in evidence_of(record):
        own = plain.instructions[plain.instructions["module"] == evidence.module]
        rows = plain.of("engines")
        waited = 0.0
        for row in rows.itertuples():
            end = min(row.cycle + record.interval, plain.total)
            inside = (np.minimum(own["start"] + own["cycles"], end) - np.maximum(own["start"], row.cycle)).clip(lower=0)
            waited += row.ordering * inside.sum() / (end - row.cycle)
        reads = plain.of("instruction_latencies")
        reads = reads[reads["instruction"].isin(own["instruction"])]["reads"].sum()
        assert evidence.ordering == pytest.approx(waited / reads)


@SHAPES
def test_shares_of_the_work(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    for evidence in evidence_of(record):
        own = plain.instructions[plain.instructions["module"] == evidence.module]
        done = plain.of("instruction_kernels", module=evidence.module).groupby("instruction")["done"]
        assert evidence.unevenness == pytest.approx(done.max().sum() / done.mean().sum())
        kernels = plain.of("instruction_kernels", module=evidence.module)
        issued = kernels[list(WORK)].sum(axis=1).groupby(kernels["instruction"])
        assert evidence.requests == pytest.approx(
            (issued.max().mean(), issued.sum().mean() / plain.kernels(evidence.module))
        )
        idle = plain.stack("no_work")[plain.instructions["module"] == evidence.module]
        assert evidence.share("no_work", "flush") == pytest.approx(
            (idle.sum() + plain.stack("flush")[plain.instructions["module"] == evidence.module].sum())
            / own["cycles"].sum()
        )


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
