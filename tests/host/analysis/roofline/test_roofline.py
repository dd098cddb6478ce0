"""Roofline: limits, crossbar and report."""

import dataclasses
import math
from fractions import Fraction
from pathlib import Path
from unittest.mock import ANY
from xml.etree import ElementTree

import numpy as np
import pytest

from cyscc.host.analysis.roofline.analysis import level_points, limit_rows, roofline_document
from cyscc.host.analysis.roofline.limits import (
    CROSSBAR,
    LIMITS,
    Bounds,
    Traffic,
    ceilings,
    crossbar_cycles,
    passed_per_cycle,
)
from cyscc.host.analysis.roofline.plot import roofline_figure
from cyscc.host.answer.static import write
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.memory import Hc2, parse_profile
from tests.host.analysis.roofline.samples import SETTING, bounds_of, roofline_of
from tests.host.conftest import Answers
from tests.host.experiments.told import line_of

FOUR = AcceleratorConfig(
    engines=4,
    bfs_kernels=16,
    frontier_depth=64,
    neighbour_depth=128,
    word_depth=128,
    visit_depth=64,
    issue_interval=1,
    ring_stages=4,
    link_cycles=8,
)
ONE = FOUR.replace(engines=1)
PUBLISHED = ONE.replace(issue_interval=2)


def bounds_with(config: AcceleratorConfig, memory: str) -> Bounds:
    return Bounds(config, parse_profile(memory))


def level(bounds: Bounds, **work: list[int]) -> Traffic:
    """Return a level of the given entries, edges and pushes of the first kernels, all on link 0 and bank 0."""
    given = {name: work.get(name, []) for name in ("entries", "edges", "pushes")}
    by_kernel = {name: np.array([values + [0] * (bounds.kernels - len(values))]) for name, values in given.items()}
    reads = (by_kernel["entries"] + 2 * by_kernel["edges"]).reshape(bounds.engines, -1).sum(axis=1)
    links = np.zeros((1, bounds.engines, 16), np.int64)
    links[0, :, 0] = reads
    writes, banks, openings = (np.zeros((1, count), np.int64) for count in (16, 1024, 1024))
    writes[0, 0] = 3 * by_kernel["pushes"].sum()
    banks[0, 0] = reads.sum() + writes[0, 0]
    requests = {"entries": by_kernel["entries"], "ids": by_kernel["edges"], "words": by_kernel["edges"]}
    return Traffic(
        **requests, writes=3 * by_kernel["pushes"], read_links=links, write_links=writes, banks=banks, openings=openings
    )


def found_in(bounds: Bounds, traffic: Traffic) -> dict[str, int]:
    (cycles,) = bounds.limits(traffic).tolist()
    return dict(zip(bounds.names, cycles, strict=True))


def limits(bounds: Bounds, **work: list[int]) -> dict[str, int]:
    return found_in(bounds, level(bounds, **work))


@pytest.mark.parametrize("memory", ["fixed:75", "stress"])
def test_links_and_banks_limit_only_where_they_are_modelled(memory: str) -> None:
    assert bounds_with(FOUR, memory).names == ("ports", "imbalance", "outstanding", "ring", "overhead")
    links = ("ports", "imbalance", "links", "busiest_link")
    kernels = ("outstanding", "ring", "overhead")
    assert bounds_with(FOUR, "hc2").names == (*links, "banks", "busiest_bank", *kernels)
    rows = ("channels", "busiest_channel", "rows", "refresh", "busiest_bank")
    assert bounds_with(FOUR, "hbm2").names == (*links, *rows, *kernels)
    assert set(LIMITS) == {*links, *rows, "banks", *kernels}
    assert [ceiling.name for ceiling in ceilings(bounds_with(FOUR, memory))] == ["ports"]


@pytest.mark.parametrize(("config", "cycles"), [(PUBLISHED, (2, 4, 4)), (ONE, (1, 2, 3))])
def test_cycles_of_a_port(config: AcceleratorConfig, cycles: tuple[int, int, int]) -> None:
    bounds = bounds_with(config, "fixed:75")
    for work, each in zip(("entries", "edges", "pushes"), cycles, strict=True):
        found = limits(bounds, **{work: [10, 6]})
        assert (found["ports"], found["imbalance"]) == (each, 10 * each)


def test_limits_of_the_memory() -> None:
    bounds = bounds_with(FOUR, "hc2")
    found = limits(bounds, entries=[100], edges=[450], pushes=[200])
    assert found["links"] == 1600 / 64
    assert found["banks"] == -(-1600 * 15 // 1024)
    assert found["busiest_bank"] == 1600 * 15
    # The reads are all of AE 0, but of the writes a fourth may be.
    assert found["busiest_link"] == 1000
    assert limits(bounds, pushes=[160])["busiest_link"] == 480 / 4
    spread = level(bounds, pushes=[160])
    spread.write_links[:] = 30
    assert found_in(bounds, spread)["busiest_link"] == 480 / 16
    slow = Bounds(FOUR, Hc2(bank_busy=60))
    assert limits(slow, entries=[100])["busiest_bank"] == 6000


def test_limits_of_rows() -> None:
    # A burst takes a third of a cycle, opening a row two thirds; a bank 7.5 cycles for a row, two thirds for a column.
    bounds = bounds_with(FOUR, "hbm2")
    banks, openings = np.zeros((1, 512), np.int64), np.zeros((1, 512), np.int64)
    banks[0, :16], openings[0, :16] = 60, 20
    banks[0, 16], openings[0, 16] = 3000, 1
    traffic = dataclasses.replace(level(bounds), banks=banks, openings=openings)
    found = found_in(bounds, traffic)
    assert found["channels"] == -(-3960 // (3 * 32))
    assert found["busiest_channel"] == 1000
    # The row commands of the one controller whose rows were opened: two clocks for each of 321, and a clock for closing
    # all but the first of 16 banks, and those that refreshes may have closed.
    opening, closing = 2 * 321, 16 * 19 - 32
    commands = Fraction(opening + closing, 6) / (1 + Fraction(32, 3510))
    assert found["rows"] == math.ceil(commands / 16)
    # So much takes a whole refresh: 1000 cycles are more than what one of 585 leaves, 543.67.
    assert found["refresh"] == 1042
    assert found["busiest_bank"] == 2000
    banks[0, 16] = 3
    assert found_in(bounds, traffic)["busiest_bank"] == -(-19 * 15 // 2)
    # All open rows: 959 windows of two thirds, and the refresh of 41.33 cycles that falls into them.
    openings[0, :16] = 60
    assert found_in(bounds, traffic)["refresh"] == 681


def test_crossbar_passes_what_goes_to_one_link_one_a_cycle() -> None:
    bounds = bounds_with(ONE, "hc2")
    assert bounds.crossbar(level(bounds, entries=[100], edges=[450], pushes=[200])) == [1600]
    spread = level(bounds, entries=[1600])
    spread.read_links[:] = 100
    found = bounds.crossbar(spread)
    assert found is not None
    assert 1600 / 16 < found[0] < 1600 / (0.57 * 16)
    assert bounds_with(ONE, "fixed:75").crossbar(level(bounds, entries=[100])) is None


def test_writes_are_as_if_every_engine_wrote_alike() -> None:
    bounds = bounds_with(FOUR, "hc2")
    pushes = [0] * 16 + [10] * 16
    assert bounds.crossbar(level(bounds, pushes=pushes)) == [480]
    assert bounds.crossbar(level(bounds, pushes=[10] * 64)) == [480]


def test_outstanding_reads_limit_what_a_kernel_can_read() -> None:
    bounds = bounds_with(ONE, "fixed:75")
    assert limits(bounds, entries=[64])["outstanding"] == 80
    assert limits(bounds, entries=[64], edges=[0, 12_800])["outstanding"] == 8000
    narrow = bounds_with(ONE.replace(word_depth=16), "fixed:75")
    assert limits(narrow, edges=[12_800])["outstanding"] == 64_000


def test_ring_hands_out_only_so_many_slots_a_turn() -> None:
    bounds = bounds_with(ONE, "fixed:75")
    assert [limits(bounds, pushes=[n])["ring"] for n in (0, 1, 66, 67, 660)] == [0, 20, 20, 40, 200]


def test_level_overhead() -> None:
    # Three reads of 80 cycles after each other, less the 4 of the ring master; the flush; a turn is 20.
    bounds = bounds_with(ONE, "fixed:75")
    assert limits(bounds, entries=[1])["overhead"] == 10 + 20 * (1 + 4)
    assert limits(bounds, entries=[1], edges=[1])["overhead"] == 10 + 20 * (1 + 12)
    assert limits(bounds, entries=[1], edges=[1], pushes=[1])["overhead"] == 10 + 20 * (1 + 12 + 1)
    # The first AE's kernels are passed first in a turn, so they wait longest for the last one.
    whole = bounds_with(FOUR, "fixed:100")
    assert limits(whole, entries=[1], edges=[1])["overhead"] == 10 + 116 * (1 + 3)
    last = [0] * 63 + [1]
    assert limits(whole, entries=last, edges=last)["overhead"] == 10 + 116 * (1 + 2)


def test_ceilings_of_the_full_machine() -> None:
    half = np.array([0.25, 0.5])
    found = {ceiling.name: ceiling for ceiling in ceilings(bounds_with(FOUR, "hc2"))}
    assert {name: ceiling.reads for name, ceiling in found.items()} == {
        "ports": 64,
        "links": 64,
        "banks": 1024 / 15,
        CROSSBAR.title: pytest.approx(0.6 * 64, rel=0.02),
    }
    assert found["ports"].edges(half).tolist() == [16, 32]
    assert found["banks"].edges(half) == pytest.approx([1024 / 60, 1024 / 30])


def test_ceilings_of_rows() -> None:
    found = {ceiling.name: ceiling.reads for ceiling in ceilings(bounds_with(FOUR, "hbm2"))}
    left = 1 - 248 / 3510
    assert found == {
        "ports": 64,
        "links": 128,
        "channels": pytest.approx(32 * 3 * left),
        "rows": pytest.approx(32 * left),
        CROSSBAR.title: ANY,
    }


def test_published_ports_are_faster_in_visits() -> None:
    # An edge costs 4 cycles, each other request at least a third of a visit's 4.
    (ports, *_) = ceilings(bounds_with(PUBLISHED.replace(engines=4), "hc2"))
    assert ports.reads == 32
    assert ports.edges(np.array([0.5, 0.2])) == pytest.approx([64 / 4, 64 / (4 + 3 * 4 / 3)])


@pytest.mark.parametrize("memory", ["hc2", "hbm2", "fixed:75"])
def test_levels_do_not_depend_on_those_beside_them(memory: str) -> None:
    bounds = bounds_with(FOUR, memory)
    banks = bounds.contention.banks if bounds.contention else 1
    levels = []
    for number in (1, 40):
        one = level(bounds, entries=[number], edges=[3 * number, 7], pushes=[0, number])
        levels.append(dataclasses.replace(one, banks=one.banks[:, :banks], openings=one.banks[:, :banks] // 5))
    both = Traffic(
        **{f.name: np.concatenate([getattr(each, f.name) for each in levels]) for f in dataclasses.fields(Traffic)}
    )
    assert bounds.limits(both).tolist() == [bounds.limits(each)[0].tolist() for each in levels]


@pytest.mark.parametrize(
    ("ports", "throughput"),
    [(1, 1.0), (2, 0.75), (3, 0.6825), (4, 0.6553), (5, 0.6399), (6, 0.6302), (7, 0.6234), (8, 0.6184)],
)
def test_saturated_throughput_is_that_of_the_paper(ports: int, throughput: float) -> None:
    # Karol, Hluchyj, Morgan 1987, table I.
    found = passed_per_cycle(ports, np.full(ports, 1 / ports)) / ports
    assert found == pytest.approx(throughput, rel=0.005)


def test_many_ports_reach_the_closed_form() -> None:
    assert passed_per_cycle(256, np.full(256, 1 / 256)) / 256 == pytest.approx(2 - np.sqrt(2), rel=0.01)


def test_one_link_passes_one_request_a_cycle() -> None:
    assert passed_per_cycle(16, np.array([0.0, 1.0, 0.0])) == 1
    # Two thirds of the requests are for one link, which is never idle then.
    assert passed_per_cycle(16, np.array([2.0, 1.0])) == pytest.approx(1.5, rel=0.01)


def test_few_requests_are_not_yet_blocked() -> None:
    # In the first cycle a link has no request with a chance of (1 - 1/n)^n.
    even = np.full(256, 1 / 256)
    assert passed_per_cycle(256, even, requests=100) / 256 == pytest.approx(1 - math.exp(-1), rel=0.05)
    assert passed_per_cycle(256, even) == passed_per_cycle(256, even)


def test_the_slowest_engine_counts() -> None:
    even = np.full(16, 1000.0)
    one = crossbar_cycles(16, even[None, :])
    assert one == pytest.approx(16_000 / (0.6 * 16), rel=0.02)
    assert crossbar_cycles(16, np.stack([even, 0 * even, 3 * even])) == pytest.approx(3 * one, rel=0.02)
    assert crossbar_cycles(16, np.zeros((4, 16))) == 0


LEVELS = [
    (10, 50, 300, [1, 2, 3, 20, 290]),
    (900, 2000, 500, [400, 450, 200, 40, 300]),
    (0, 10, 200, [1, 1, 2, 0, 110]),
]


ROOFLINES = {
    "levels": roofline_of(LEVELS),
    "a limit that is not there": roofline_of([(0, 1, 100, [1, 1, 2, 0, 90])]),
    "a crossbar beside the limits": roofline_of(
        [(10, 50, 300, [9] * 8 + [290]), (900, 2000, 500, [9, 300, *[9] * 7])], memory="hc2", crossbar=[20, 450]
    ),
}


def test_rows_and_documents_are_as_pinned(answers: Answers) -> None:
    told = []
    for name, roofline in ROOFLINES.items():
        told += [name, *map(line_of, limit_rows(roofline, SETTING)), line_of(roofline_document(roofline, SETTING))]
    answers("rooflines", "\n".join([*told, ""]))


def test_points_are_levels_with_edges() -> None:
    points = level_points(roofline_of(LEVELS))
    order = np.argsort(points.level)
    assert points.level[order].tolist() == [0, 1]
    assert points.intensity[order].tolist() == [0.2, 0.45]
    assert points.rate[order].tolist() == [10 / 300, 900 / 500]
    assert points.edges[order].tolist() == [10, 900]
    assert points.share[order].tolist() == [0.3, 0.5]


def test_levels_of_one_spot_are_one_point() -> None:
    points = level_points(roofline_of([(1, 6, 300, [1, 6, 2, 20, 290])] * 100_000 + LEVELS))
    order = np.argsort(points.edges)
    assert points.edges[order].tolist() == [10, 900, 100_000]
    assert points.level[order].tolist() == [100_000, 100_001, -1]


def test_odd_names_of_graphs_are_shown_as_they_are() -> None:
    spec = dataclasses.replace(SETTING.spec, graph="a_$b$\n.gr")
    layout = roofline_figure(roofline_of(LEVELS), dataclasses.replace(SETTING, spec=spec)).layout
    assert layout.title.text == "a_$b$?.gr on hc2-1ae, memory fixed:75: 0.137 GTEPS"


@pytest.mark.parametrize("memory", ["hc2", "stress", "fixed:75"])
def test_plot_of_a_search_without_edges(memory: str, tmp_path: Path) -> None:
    limits = [1] * len(bounds_of("hc2-1ae", memory).names)
    path = tmp_path / "plot.svg"
    write(roofline_figure(roofline_of([(0, 1, 150, limits)], memory=memory), SETTING), str(path))
    assert "no edge was traversed" in path.read_text()
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
