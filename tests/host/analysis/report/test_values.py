"""Values of every chart of the page, compared with sums of the record's tables made by pandas alone."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cyscc.host.analysis.explain.evidence import evidence_of
from cyscc.host.analysis.report.figures import chart_sections
from cyscc.host.answer.charts import PHASE
from cyscc.host.record.reader import Record
from cyscc.sim.observation.causes import CAUSES, WORK
from tests.host.analysis.report.pages import BFS, SCC, frames_of, page_of, plain_of
from tests.host.analysis.report.test_page import array, charts
from tests.record.checks import Numbers, Plain
from tests.record.synthetic import Shape

TITLES = {cause.name: cause.title for cause in CAUSES}
PHASES = ("forward", "backward", "intersection")
ARRAYS = ("other", "words", "neighbours", "queues", "colours")
PERCENT = 0.5000001

Drawn = dict[str, Any]
Values = dict[str, Numbers]


def values(drawn: Drawn, axis: str = "y", *, kind: str = "") -> Values:
    """Return the numbers of each named trace of a kind that is shown at first, without those of the legend alone."""
    return {
        trace["name"]: array(trace[axis]).astype(float)
        for trace in drawn["data"]
        if "name" in trace
        and trace["type"].startswith(kind)
        and trace.get("legendgroup") != PHASE
        and trace.get("visible", True)
    }


def over_time(drawn: Drawn) -> Values:
    """Return the numbers of each line or area over time, by column; its first and last point are the run's ends."""
    found = values(drawn, kind="scatter")
    for each in found.values():
        assert each[[0, -1]] == pytest.approx(each[[1, -2]], nan_ok=True)
    return {name: each[1:-1] for name, each in found.items()}


def maps(drawn: Drawn) -> list[Numbers]:
    """Return the values of the heat maps below the strip of phases."""
    return [array(trace["z"]).astype(float) for trace in drawn["data"][1:] if trace["type"] == "heatmap"]


def width_of(drawn: Drawn) -> int:
    """Return the cycles of a column of time: those of the strip of phases."""
    return int(drawn["data"][0]["dx"])


def same(found: Values, expected: Values, *, absolute: float = 1e-6) -> None:
    """Check that exactly the values above zero are drawn."""
    there = {name: each for name, each in expected.items() if np.any(np.nan_to_num(each))}
    assert set(found) == set(there)
    for name, each in there.items():
        assert found[name] == pytest.approx(each, rel=1e-5, abs=absolute, nan_ok=True), name


def titled(parts: Values) -> Values:
    return {TITLES[cause]: each for cause, each in parts.items()}


def check_whole(plain: Plain, drawn: Drawn) -> None:
    ran = [phase for phase in PHASES if phase in set(plain.instructions["phase"])]
    expected = {}
    for cause in TITLES:
        total = plain.average(cause, plain.total).sum() if cause != "not_running" else 0.0
        own = plain.stack(cause)
        expected[cause] = np.array([total, *(own[plain.instructions["phase"] == phase].sum() for phase in ran)])
    outside = [cause for cause in ("host", "restarted") if expected[cause][0]]
    for place, cause in enumerate(outside, 1 + len(ran)):
        expected = {name: np.append(each, each[0] if name == cause else 0.0) for name, each in expected.items()}
        assert plain.total >= expected[cause][place] > 0
    assert drawn["data"][0]["y"] == ["whole run", *ran, *(TITLES[cause] for cause in outside)]
    same(values(drawn, "x"), titled(expected), absolute=1e-3)
    totals = np.sum(list(expected.values()), axis=0)
    assert totals[0] == pytest.approx(plain.total)
    for trace in drawn["data"]:
        assert array(trace["customdata"]) == pytest.approx(array(trace["x"]) / totals, rel=1e-5)


def check_iterations(plain: Plain, drawn: Drawn) -> None:
    number = plain.instructions["iteration"].to_numpy() - 1
    same(
        values(drawn),
        titled({cause: np.bincount(number, plain.stack(cause)).astype(float) for cause in TITLES}),
        absolute=1e-3,
    )


def check_levels(plain: Plain, drawn: Drawn) -> None:
    same(values(drawn), titled({cause: plain.stack(cause) for cause in TITLES}), absolute=1e-3)


def check_time(plain: Plain, drawn: Drawn) -> None:
    width = width_of(drawn)
    parts = {c: 100 * plain.average(c, width) / plain.columns(width) for c in TITLES if c != "not_running"}
    same(over_time(drawn), titled(parts), absolute=1e-4)


def tracks_of(plain: Plain) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"AE {engine} {module} {kernel}", {"module": module, "engine": engine, "kernel": kernel})
        for module in plain.modules
        for engine in range(plain.engines)
        for kernel in range(plain.machine["kernels"][module])
    ]


def check_lapse(plain: Plain, drawn: Drawn) -> None:
    width, tracks = width_of(drawn), tracks_of(plain)
    lengths = plain.columns(width)
    assert drawn["data"][1]["y"] == [name for name, _ in tracks]
    rows = plain.of("kernels")
    sums = rows.groupby(["module", "engine", "kernel", rows["cycle"] // width])[list(TITLES)].sum()
    by_track = [sums.loc[tuple(track.values())] for _, track in tracks]
    by_cause = {cause: np.array([track[cause] for track in by_track], float) for cause in TITLES}
    shown = {"requests issued": sum(by_cause[cause] for cause in WORK), **titled(by_cause)}
    labels = [button["label"] for button in drawn["layout"]["updatemenus"][0]["buttons"]]
    heat = maps(drawn)
    assert set(labels) == {title for title, cycles in shown.items() if np.any(cycles)}
    for label, shares in zip(labels, heat, strict=True):
        assert shares == pytest.approx(100 * shown[label] / lengths, abs=PERCENT), label


def check_kernels(plain: Plain, drawn: Drawn) -> None:
    tracks = tracks_of(plain)
    sums = plain.of("kernels").groupby(["module", "engine", "kernel"])[list(TITLES)].sum()
    places = [tuple(track.values()) for _, track in tracks]
    expected = {cause: 100 * sums[cause].loc[places].to_numpy(float) / plain.total for cause in TITLES}
    assert drawn["data"][0]["x"] == [name for name, _ in tracks]
    same(values(drawn), titled(expected), absolute=1e-4)


def check_work(plain: Plain, drawn: Drawn) -> None:
    names = {"entries read": "frontier", "vertices pushed": "pushed", "of them copies": "duplicates"}
    counts = {title: plain.instructions[name].to_numpy(float) for title, name in names.items()}
    same(values(drawn), {title: np.where(each > 0, each, np.nan) for title, each in counts.items()})


def check_arrays(plain: Plain, drawn: Drawn) -> None:
    width = width_of(drawn)
    expected = {}
    for name in ARRAYS:
        rows = plain.of("arrays", array=name)
        both = plain.over_time(rows, "reads", width) + plain.over_time(rows, "writes", width)
        expected[name] = both / plain.columns(width)
    same(over_time(drawn), expected)


def check_array_latency(plain: Plain, drawn: Drawn) -> None:
    width = width_of(drawn)
    expected = {}
    for name in ARRAYS:
        rows = plain.of("arrays", array=name)
        reads = plain.over_time(rows, "reads", width)
        with np.errstate(invalid="ignore"):
            expected[name] = plain.over_time(rows, "latency", width) / reads
    same(over_time(drawn), expected)


def check_accesses(plain: Plain, drawn: Drawn, keys: list[Any], key: list[str]) -> None:
    """Check bars by array: accesses first, then waiting times."""
    found = [(trace["name"], array(trace["y"]).astype(float)) for trace in drawn["data"]]
    expected = []
    for column in ("accesses", "waiting"):
        for name in ARRAYS:
            sums = plain.of("instruction_banks", array=name).groupby(key)[column].sum()
            counts = sums.reindex(keys, fill_value=0).to_numpy(float)
            if counts.any():
                expected.append((name, counts))
    assert [name for name, _ in found] == [name for name, _ in expected]
    for (name, drawn_counts), (_, counts) in zip(found, expected, strict=True):
        assert drawn_counts == pytest.approx(counts, rel=1e-6), name


def check_array_levels(plain: Plain, drawn: Drawn) -> None:
    check_accesses(plain, drawn, plain.instructions["instruction"].tolist(), ["instruction"])


def check_hottest(plain: Plain, drawn: Drawn) -> None:
    total, waited = (
        plain.of("instruction_banks").groupby(["controller", "bank"])[name].sum() for name in ("accesses", "waiting")
    )
    shown = [tuple(map(int, re.findall(r"\d+", title))) for title in drawn["data"][0]["x"]]
    assert total.loc[shown].tolist() == total.sort_values(ascending=False).tolist()[:24]
    bars = {**drawn, "data": [trace for trace in drawn["data"] if trace["type"] == "bar"]}
    check_accesses(plain, bars, shown, ["controller", "bank"])
    memory = plain.machine["memory"]
    means = [rows.sum() / (memory["controllers"] * memory["banks"]) for rows in (total, waited)]
    lines = [trace for trace in drawn["data"] if trace["type"] == "scatter"]
    assert [array(line["y"]) for line in lines] == [pytest.approx(np.full(len(shown), mean)) for mean in means]
    assert [line["name"] for line in lines] == [f"mean of all banks: {mean:,.0f}" for mean in means]


def check_lapse_of(
    plain: Plain, drawn: Drawn, table: str, row: Callable[[Any], Any], count: int, *, noun: str, each: float
) -> None:
    """Check the utilisation of rows, given the cycles of a request, and the number of waiting requests."""
    width = width_of(drawn)
    rows, lengths = plain.of(table), plain.columns(width)
    grids = []
    for name in (noun, "waiting"):
        grid = np.zeros((count, lengths.size))
        np.add.at(grid, (row(rows).to_numpy(int), (rows["cycle"] // width).to_numpy(int)), rows[name].to_numpy(float))
        grids.append(grid / lengths)
    busy, waiting = maps(drawn)
    assert busy == pytest.approx(np.clip(100 * each * grids[0], 0, 255), abs=PERCENT)
    assert waiting == pytest.approx(grids[1], rel=1e-5, abs=1e-6)


def check_banks(plain: Plain, drawn: Drawn) -> None:
    memory = plain.machine["memory"]
    banks = memory["banks"]
    check_lapse_of(
        plain,
        drawn,
        "banks",
        lambda rows: rows["controller"].astype(int) * banks + rows["bank"],
        memory["controllers"] * banks,
        noun="accesses",
        each=memory["bank_busy"],
    )


def check_controllers(plain: Plain, drawn: Drawn) -> None:
    memory = plain.machine["memory"]
    each = memory["bank_busy"] / memory["banks"]
    row = lambda rows: rows["controller"].astype(int)  # noqa: E731
    check_lapse_of(plain, drawn, "banks", row, memory["controllers"], noun="accesses", each=each)


def check_links(plain: Plain, drawn: Drawn) -> None:
    links = plain.machine["memory"]["links"]
    row = lambda rows: rows["engine"].astype(int) * links + rows["link"]  # noqa: E731
    check_lapse_of(plain, drawn, "links", row, plain.engines * links, noun="requests", each=1)


def fifos_of(plain: Plain) -> list[tuple[str, dict[str, Any]]]:
    return [(module, fifo) for module in plain.modules for fifo in plain.machine["fifos"][module]]


def check_fifos(plain: Plain, drawn: Drawn) -> None:
    """Check the bars by the evidence, which has a test of its own."""
    fifos = [fifo for evidence in evidence_of(Record(plain.folder)) for fifo in evidence.fifos]
    assert [(fifo.module, fifo.name) for fifo in fifos] == [(module, fifo["name"]) for module, fifo in fifos_of(plain)]
    needed = [min(fifo.needed, fifo.depth) for fifo in fifos]
    expected = {"depth": [fifo.depth for fifo in fifos], "with reads in flight": needed}
    expected |= {"high-water mark": [fifo.most for fifo in fifos]}
    means = {"mean": np.array([fifo.mean for fifo in fifos])}
    same(values(drawn), {name: np.array(each, float) for name, each in expected.items()} | means)


def check_fifo_time(plain: Plain, drawn: Drawn) -> None:
    width = width_of(drawn)
    lengths = plain.columns(width)
    mean, most = maps(drawn)
    for row, (module, fifo) in enumerate(fifos_of(plain)):
        rows = plain.of("fifos", module=module, fifo=fifo["name"])
        held = plain.over_time(rows, "fill", width) / plain.kernels(module) / lengths
        assert mean[row] == pytest.approx(100 * held / fifo["depth"], abs=PERCENT)
        peak = rows.groupby(rows["cycle"] // width)["most"].max().to_numpy(float)
        assert most[row] == pytest.approx(100 * peak / fifo["depth"], abs=PERCENT)


def check_latencies(plain: Plain, drawn: Drawn) -> None:
    assert {trace["name"] for trace in drawn["data"]} == set(plain.instructions["phase"])
    for trace in drawn["data"]:
        rows = plain.of("instruction_latencies", phase=trace["name"])
        bins = array(trace["customdata"])
        inside = [rows[rows["latency"].between(low, high)]["reads"].sum() for low, high in bins.tolist()]
        assert array(trace["y"]).tolist() == inside
        assert sum(inside) == rows["reads"].sum()


def check_latency_levels(plain: Plain, drawn: Drawn) -> None:
    shares = {"median": 0.5, "95 %": 0.95, "99 %": 0.99}
    rows = plain.of("instruction_latencies")
    expected = {
        name: np.array(
            [
                np.quantile(np.repeat(its["latency"], its["reads"]), share, method="inverted_cdf")
                for its in (rows[rows["instruction"] == number] for number in plain.instructions["instruction"])
            ]
        )
        for name, share in shares.items()
    }
    same(values(drawn), expected)


def check_token(plain: Plain, drawn: Drawn) -> None:
    width = width_of(drawn)
    lengths = plain.columns(width)
    expected = {}
    for module in plain.modules:
        turns = plain.over_time(plain.of("engines"), f"{module}_turns", width) / plain.engines
        together = int(np.ceil(40 / np.median(turns[turns > 0]))) if turns.any() else 1
        rate = np.zeros(turns.size)
        for column in np.flatnonzero(turns):
            first = column - together // 2
            near = slice(max(first, 0), first + together)
            rate[column] = 1000 * turns[near].sum() / lengths[near].sum()
        expected[f"{module} token"] = rate
    expected["kernels that wait for a slot"] = 100 * plain.average("slot", width) / lengths
    same(over_time(drawn), expected, absolute=1e-4)


def check_stalls(plain: Plain, drawn: Drawn) -> None:
    width = width_of(drawn)
    lengths = plain.columns(width)
    expected = {
        f"kernels: {TITLES[cause]}": 100 * plain.average(cause, width) / lengths
        for cause in ("credit", "refused", "response")
    }
    for kind in ("read", "write"):
        stalls = plain.over_time(plain.of("engines"), f"{kind}_stalls", width)
        expected[f"ports that took no {kind}"] = 100 * stalls / plain.kernels("bfs") / lengths
    same(over_time(drawn), expected, absolute=1e-4)


def limits_of(plain: Plain) -> tuple[Any, Values]:
    """Return the levels of the searches, and what some of the limits come to, as docs/roofline.md has them."""
    config, memory = plain.document["configuration"], plain.machine["memory"]
    profile = plain.document["memory_profile"]
    levels = plain.instructions[plain.instructions["module"] == "bfs"]
    numbers = levels["instruction"].tolist()
    kernels = plain.of("instruction_kernels", module="bfs").set_index(["instruction", "engine", "kernel"])

    def by_kernel(counts: Any) -> Numbers:
        return np.array(counts.unstack(["engine", "kernel"]).loc[numbers].to_numpy(float))

    asked = sum(by_kernel(kernels[f"issue_{process}"]) for process in (1, 2, 3))
    written = by_kernel(kernels["write"])
    port = config["issue_interval"] * asked + written + (config["issue_interval"] - 1) * np.ceil(written / 3)
    banks = plain.of("instruction_banks").groupby(["instruction", "controller", "bank"])["accesses"].sum()
    requests = banks.groupby("instruction").sum().reindex(numbers, fill_value=0).to_numpy(float)
    links = plain.of("instruction_links").set_index(["instruction", "engine", "link"])
    shape = (len(numbers), plain.engines, memory["links"])
    every = pd.MultiIndex.from_product([range(plain.engines), range(memory["links"])])
    reads, writes = (
        links[name].unstack(["engine", "link"]).reindex(numbers, columns=every).fillna(0).to_numpy(float).reshape(shape)
        for name in ("reads", "writes")
    )
    own = written.reshape(len(numbers), plain.engines, -1).sum(axis=2) + reads.sum(axis=2)
    busiest = np.max(
        [
            reads.max(axis=(1, 2)),
            np.ceil((reads + writes).sum(axis=1) / plain.engines).max(axis=1),
            np.ceil(own / memory["links"]).max(axis=1),
        ],
        axis=0,
    )
    found = {
        "ports": np.ceil(port.sum(axis=1) / port.shape[1]),
        "imbalance": port.max(axis=1),
        "links": np.ceil(requests / (plain.engines * memory["links"])),
        "busiest link": busiest,
        "banks": np.ceil(requests * profile["bank_busy"] / (memory["controllers"] * memory["banks"])),
        "busiest bank": banks.groupby("instruction").max().reindex(numbers).to_numpy(float) * profile["bank_busy"],
    }
    return levels.assign(requests=requests), found


def check_roofline(plain: Plain, drawn: Drawn) -> None:
    levels, _ = limits_of(plain)
    scale = plain.document["clock_hz"] / 1e9
    intensity, rate = levels["edges"] / levels["requests"], scale * levels["edges"] / levels["cycles"]
    share = 100 * levels["cycles"] / levels["cycles"].sum()
    expected = sorted(zip(intensity, rate, share, levels["edges"], strict=True))
    points = [trace for trace in drawn["data"] if trace["mode"] == "markers+text"]
    found = sorted(
        (x, y, *more)
        for trace in points
        for x, y, more in zip(array(trace["x"]), array(trace["y"]), array(trace["customdata"]).tolist(), strict=True)
    )
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-5)
    lines = {trace["name"].split(":")[0]: trace for trace in drawn["data"] if trace["mode"] == "lines"}
    memory, config = plain.machine["memory"], plain.document["configuration"]
    most = {
        "ports": plain.kernels("bfs") / config["issue_interval"],
        "links": plain.engines * memory["links"],
        "banks": memory["controllers"] * memory["banks"] / memory["bank_busy"],
    }
    for name, requests in most.items():
        x, y = (array(lines[name][axis]).astype(float) for axis in ("x", "y"))
        assert y == pytest.approx(scale * requests * x, rel=1e-4), name


def check_limits(plain: Plain, drawn: Drawn) -> None:
    levels, expected = limits_of(plain)
    (trace,) = drawn["data"]
    found = dict(zip(trace["y"], zip(array(trace["x"]), array(trace["customdata"]), strict=True), strict=True))
    taken = levels["cycles"].sum()
    for name, cycles in expected.items():
        assert found[name] == pytest.approx((100 * cycles.sum() / taken, cycles.sum()), rel=1e-5), name


def check_limit_levels(plain: Plain, drawn: Drawn) -> None:
    levels, expected = limits_of(plain)
    found = values(drawn)
    assert found["taken"].tolist() == levels["cycles"].tolist()
    for name, cycles in expected.items():
        assert found[name].tolist() == cycles.tolist(), name
    shares = {trace["name"]: array(trace["customdata"]) for trace in drawn["data"][1:]}
    for name, cycles in expected.items():
        assert shares[name] == pytest.approx(100 * cycles / levels["cycles"].to_numpy(), rel=1e-5)


CHECKS = {
    name.removeprefix("check_").replace("_", "-"): check
    for name, check in globals().items()
    if name.startswith("check_")
}
HELPERS = {"accesses", "lapse-of"}


@pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
def test_every_chart_shows_what_the_tables_have(shape: Shape) -> None:
    plain, drawn = plain_of(shape), charts(page_of(shape))
    names = {name.removeprefix("run0-") for name in drawn}
    assert names | {"iterations"} == set(CHECKS) - HELPERS
    for name in sorted(names):
        CHECKS[name](plain, drawn[f"run0-{name}"])


@pytest.mark.parametrize(("most", "titles"), [(3, ["1", "2", "3"]), (2, ["1 to 2", "3 to 3"]), (1, ["1 to 3"])])
def test_of_many_iterations_several_are_one_bar(most: int, titles: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.analysis.report.figures._ITERATIONS", most)
    sections = chart_sections(frames_of(SCC))
    (chart,) = (each for _, _, made in sections for each in made if each.name == "iterations")
    plain = plain_of(SCC)
    together = -(-3 // most)
    bar = (plain.instructions["iteration"].to_numpy() - 1) // together
    stacks = {cause: np.bincount(bar, plain.stack(cause)).astype(float) for cause in TITLES}
    drawn = chart.figure.to_plotly_json()
    same(values(drawn), titled(stacks), absolute=1e-3)
    assert all(list(trace["x"]) == titles for trace in drawn["data"])
    assert chart.points == tuple(f"iteration={title.split()[0]}" for title in titles)
    words = ("iteration", "an iteration") if together == 1 else ("iterations", f"{together} iterations")
    assert drawn["layout"]["xaxis"]["title"]["text"] == words[0]
    assert f" of {words[1]} together." in chart.about


def test_comparisons_show_what_the_tables_have() -> None:
    shapes = (BFS, Shape(config="hc2-1ae", levels=(150, 900, 1100, 400, 120, 70), seed=5))
    plains, drawn = [plain_of(shape) for shape in shapes], charts(page_of(*shapes))
    whole = {c: np.array([p.average(c, p.total).sum() for p in plains]) for c in TITLES if c != "not_running"}
    same(values(drawn["compare-whole"], "x"), titled(whole), absolute=1e-3)
    stacks = {c: np.zeros((6, 2)) for c in TITLES}
    for cause, stack in stacks.items():
        for run, plain in enumerate(plains):
            stack[plain.instructions["level"], run] = plain.stack(cause)
    for run, axis in enumerate(("y", "y2")):
        own = {"data": [trace for trace in drawn["compare-levels"]["data"] if trace["yaxis"] == axis]}
        same(values(own), titled({cause: stack[:, run] for cause, stack in stacks.items()}), absolute=1e-3)
    difference = {
        cause: np.array([np.diff(stack, axis=1).sum(), *np.diff(stack, axis=1)[:, 0]])
        for cause, stack in stacks.items()
    }
    found = values(drawn["compare-difference"])
    total = found.pop("difference")
    same(found, titled(difference), absolute=1e-3)
    assert total == pytest.approx(np.sum(list(difference.values()), axis=0), abs=1e-2)
