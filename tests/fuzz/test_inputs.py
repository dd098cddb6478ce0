"""Some hundred graph files changed at random; `tests.fuzz.inputs` makes more."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from host.graph.csr import Graph
from tests.fuzz import inputs
from tests.fuzz.readers import RefusedError, read_plainly


def test_product_and_plain_readers_agree() -> None:
    tally: Counter[str] = Counter()
    assert [str(failure) for failure in inputs.campaign(13, count=500, tally=tally)] == []
    # Both ends of the campaign are there, and scipy had its say.
    assert min(tally["read"], tally["refused"]) > 100
    assert tally["read by scipy too"] > 20
    assert tally["read"] + tally["refused"] == 500


def test_a_campaign_is_repeated_by_its_seed() -> None:
    names = [inputs.mutant(inputs.random.Random(f"5/{number}")) for number in range(20)]
    assert names == [inputs.mutant(inputs.random.Random(f"5/{number}")) for number in range(20)]
    assert len(set(names)) > 15


def test_a_difference_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(path: Path) -> Graph:
        graph = read_graph(path)
        return Graph(offsets=graph.offsets * 0, targets=graph.targets[:0], ids=graph.ids, base=graph.base)

    read_graph = inputs.read_graph
    monkeypatch.setattr(inputs, "read_graph", lost)
    failure = next(inputs.campaign(1, count=100))
    assert "and it is" in failure.what
    assert len(failure.data) < 60
    assert f"--seed 1 --only {failure.number}" in str(failure)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("g.txt", b"3 1\r1 3\r", ([1, 3], [(1, 3), (3, 1)])),
        ("g.txt.gz", gzip.compress(b"3 1\n", mtime=0) + gzip.compress(b"1 3\n", mtime=0), ([1, 3], [(1, 3), (3, 1)])),
        ("g.mtx", b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", ([1, 2], [(1, 2), (2, 1)])),
        ("g.gr", b"p sp 2 1\na 2 1\n", ([1, 2], [(2, 1)])),
        ("g.txt", b"1 2\n1 2 3\n", None),
        ("g.gr", b"p sp 2 1\n", None),
        ("g.npz", b"1 2\n", None),
    ],
)
def test_plain_readers(name: str, data: bytes, expected: object) -> None:
    try:
        found: object = read_plainly(name, data)
    except RefusedError:
        found = None
    assert found == expected
