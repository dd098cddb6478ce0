"""Some hundred graph files changed at random."""

from collections import Counter
from pathlib import Path

import pytest

from cyscc.host.graph.csr import Graph
from tests.fuzz import inputs
from tests.fuzz.inputs import INPUTS


def test_product_and_plain_readers_agree(tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    for index in range(500):
        finding = INPUTS.examine(INPUTS.draw(13, index), tmp_path)
        assert finding.good, finding
        tally.update([finding.kind, *finding.counts])
    # Both ends of the campaign are there, and scipy had its say.
    assert min(tally["read"], tally["refused"]) > 100
    assert tally["read by scipy too"] > 20
    assert tally["read"] + tally["refused"] == 500


def test_a_last_line_that_scipy_would_read_beyond(tmp_path: Path) -> None:
    data = b"%%MatrixMarket matrix coordinate integer general\n5 5 2\n4 2 1\n2 2 7E2"
    finding = INPUTS.examine(inputs.File("g.mtx", data), tmp_path)
    assert (finding.kind, finding.counts) == ("read", {"read by scipy too": 1})


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lost(path: Path) -> Graph:
        graph = read_graph(path)
        return Graph(offsets=graph.offsets * 0, targets=graph.targets[:0], ids=graph.ids, base=graph.base)

    read_graph = inputs.read_graph
    monkeypatch.setattr(inputs, "read_graph", lost)
    finding = INPUTS.examine(inputs.File("g.txt", b"3 1\n1 3\n"), tmp_path)
    assert (finding.kind, finding.good) == ("wrong", False)
    assert finding.what == "read as ([1, 3], []), and it is ([1, 3], [(1, 3), (3, 1)])"
