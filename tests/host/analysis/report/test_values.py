"""Stacks, latencies and rooflines of the page, compared with sums of the record's tables made by pandas alone.

Values of every chart are pinned, in `test_page`.
"""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from cyscc.host.analysis.report.figures import chart_sections
from cyscc.host.answer.charts import PHASE
from cyscc.sim.observation.causes import CAUSES
from tests.host.analysis.report.pages import BFS, SCC, frames_of, page_of, plain_of
from tests.host.analysis.report.test_page import array, charts
from tests.record.checks import Numbers, Plain
from tests.record.synthetic import Shape

TITLES = {cause.name: cause.title for cause in CAUSES}
PHASES = ("forward", "backward", "intersection")


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


def check_latencies(plain: Plain, drawn: Drawn) -> None:
    assert {trace["name"] for trace in drawn["data"]} == set(plain.instructions["phase"])
    for trace in drawn["data"]:
        rows = plain.of("instruction_latencies", phase=trace["name"])
        bins = array(trace["customdata"])
        inside = [rows[rows["latency"].between(low, high)]["reads"].sum() for low, high in bins.tolist()]
        assert array(trace["y"]).tolist() == inside
        assert sum(inside) == rows["reads"].sum()


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


@pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
def test_charts_show_what_the_tables_have(shape: Shape) -> None:
    plain, drawn = plain_of(shape), charts(page_of(shape))
    for name in CHECKS.keys() - ({"iterations"} if not shape.iterations else set()):
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
