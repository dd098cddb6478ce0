"""How full FIFOs were."""

import numpy as np
import pytest

from host.report.traffic import Fill
from tests.host.report.pages import SCC, traffic_of


def test_fill_is_that_of_the_record() -> None:
    activity = traffic_of(SCC).activity
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
