"""The model of the crossbar's queues, against published figures."""

import math

import numpy as np
import pytest

from cyscc.host.analysis.roofline.limits import CROSSBAR, ceilings, crossbar_cycles, passed_per_cycle
from tests.host.analysis.roofline.samples import bounds_of


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


def test_rate_of_the_machine() -> None:
    *_, last = ceilings(bounds_of("hc2", "hc2"))
    assert last.name == CROSSBAR.title
    assert last.reads / 64 == pytest.approx(0.6, abs=0.01)
    assert last.edges(np.array([0.25, 0.5])) == pytest.approx([last.reads / 4, last.reads / 2])
