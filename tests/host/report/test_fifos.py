"""The depths that are proposed."""

import numpy as np
import pytest

from host.report.fifos import Fifo, Fill
from tests.host.report.pages import BFS, SCC, traffic_of


def fifo(*, most: int, flight: int = 0, credit: float = 0.0, parameter: str = "word_depth") -> Fifo:
    return Fifo(
        module="bfs", name="word", parameter=parameter, depth=64, most=most, flight=flight, mean=1.0, credit=credit
    )


FULL = "It was full at its worst, and hardly anybody waited for credits: leave it."
LIMIT = (
    "Its places were taken, and kernels were out of credits for 25% of their cycles: it may be the limit itself. "
    "Try 128; if the cycles stay, what answers it is the limit."
)


@pytest.mark.parametrize(
    ("found", "proposal", "words"),
    [
        (fifo(most=0), 4, "Nothing was ever in it."),
        (fifo(most=17, credit=0.5), 32, "32 places hold all that this run needed."),
        (fifo(most=16), 16, "16 places hold all that this run needed."),
        (fifo(most=16, flight=17), 64, "It needs this depth."),
        (fifo(most=40), 64, "It needs this depth."),
        (fifo(most=66), 64, FULL),
        (fifo(most=64, credit=0.001), 64, FULL),
        (fifo(most=64, credit=0.25), 128, LIMIT),
        (fifo(most=10, flight=50, credit=0.25), 128, LIMIT),
        (fifo(most=64, credit=0.25, parameter="visit_depth"), 64, FULL),
    ],
)
def test_proposal(found: Fifo, proposal: int, words: str) -> None:
    assert (found.proposal, found.words) == (proposal, words)


def test_reads_in_flight_are_their_rate_times_their_latency() -> None:
    traffic = traffic_of(BFS)
    kinds = {kind.name: kind for kind in Fill(traffic.activity, traffic).kinds}
    frame = traffic.record.frame("kernels")
    most = frame["issue_2"].max() / traffic.record.interval
    # Latencies of the synthetic record are 75 cycles or more, and hardly longer on average.
    assert kinds["neighbour"].flight >= 0.6 * 75 * most
    assert kinds["neighbour"].flight < 130 * most
    assert kinds["visit"].flight == 0


def test_fill_is_that_of_the_record() -> None:
    activity = traffic_of(SCC).activity
    fill = Fill(activity, traffic_of(SCC))
    frame = activity.record.frame("fifos")
    kinds = {(kind.module, kind.name): kind for kind in fill.kinds}
    last = activity.record.frame("instructions").query("attempt == attempt.max()")
    own = activity.record.frame("instruction_fifos").merge(last[["instruction", "cycles"]], on="instruction")
    lanes = dict(zip(("bfs", "intersection"), activity.lanes_of_module.tolist(), strict=True))
    for (module, name), kind in kinds.items():
        mine = own[(own["module"] == module) & (own["fifo"] == name)]
        assert kind.most == mine["most"].max()
        assert kind.mean == pytest.approx(mine["fill"].sum() / (mine["cycles"].sum() * lanes[module]))
        row = [*kinds].index((module, name))
        whole = frame[(frame["module"] == module) & (frame["fifo"] == name)]
        entries = (fill.mean[row] * activity.time.lengths).sum() * kind.depth * lanes[module]
        assert entries == pytest.approx(whole["fill"].sum())
        assert np.rint(fill.most[row].max() * kind.depth) == whole["most"].max()
