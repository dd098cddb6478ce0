"""The depths that are proposed."""

import numpy as np
import pytest

from host.report.fifos import Fifo, Fill
from tests.host.report.pages import SCC, activity_of


def fifo(*, depth: int, most: int, credit: float = 0.0) -> Fifo:
    return Fifo(module="bfs", name="word", parameter="word_depth", depth=depth, most=most, mean=1.0, credit=credit)


@pytest.mark.parametrize(
    ("depth", "most", "credit", "proposal", "words"),
    [
        (64, 0, 0.0, 4, "Nothing was ever in it."),
        (64, 17, 0.5, 32, "At most 17 places were taken: 32 hold all that was held in this run."),
        (64, 16, 0.0, 16, "At most 16 places were taken: 16 hold all that was held in this run."),
        (64, 40, 0.0, 64, "What it held needs this depth."),
        (64, 64, 0.001, 64, "It was full at its worst, but nobody waited for it to be felt: leave it."),
        (
            64,
            64,
            0.25,
            128,
            "It was full, and kernels were out of credits for 25% of their cycles: it may be the limit itself. "
            "Try 128; if the cycles stay, what answers it is the limit.",
        ),
    ],
)
def test_proposal(depth: int, most: int, credit: float, proposal: int, words: str) -> None:
    found = fifo(depth=depth, most=most, credit=credit)
    assert (found.proposal, found.words) == (proposal, words)


def test_fill_is_that_of_the_record() -> None:
    activity = activity_of(SCC)
    fill = Fill(activity)
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
