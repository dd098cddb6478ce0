"""Proposals: what they save at most, their order, and that they are possible."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import numpy as np
import pytest

import cyscc
from cyscc.host.analysis.explain.proposals import Proposal, proposals
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.configuration import PRESETS
from tests.host.analysis.report.pages import record_of
from tests.record.synthetic import Shape

_FOLDER = TemporaryDirectory(prefix="records-")
LEAVES = 1 << 9
GRAPHS = {
    "random": random_graph(1 << 9, 8, seed=1),
    # An edge leads to a hub, from which edges lead to all others.
    "star": Graph.from_edges(
        LEAVES, np.array([1] + [0] * (LEAVES - 2), np.uint32), np.array([0, *range(2, LEAVES)], np.uint32)
    ),
    "path": Graph.from_edges(64, np.arange(63, dtype=np.uint32), np.arange(1, 64, dtype=np.uint32)),
    # Each vertex leads to the next one, by eight edges.
    "repeated": Graph.from_edges(
        64, np.repeat(np.arange(63, dtype=np.uint32), 8), np.repeat(np.arange(1, 64, dtype=np.uint32), 8)
    ),
}


@cache
def recorded(graph: str, memory: str) -> Record:
    """Return the record of a search on the small machine."""
    folder = Path(mkdtemp(dir=_FOLDER.name)) / "seen"
    cyscc.bfs(GRAPHS[graph], 0 if graph == "repeated" else 1, config="test", memory=memory, record=folder)
    return Record(folder)


def found(record: Record) -> dict[tuple[tuple[str, Any], ...], Proposal]:
    """Return the proposals by their changes, in their order."""
    return {tuple(each.changes.items()): each for each in proposals(record)}


@pytest.mark.parametrize("memory", ["hc2", "fixed:75", "hbm2"])
def test_no_memory_saves_more_than_its_proposal_says(memory: str) -> None:
    record = recorded("random", memory)
    cycles = record.result["cycles"]["total"]
    own = [each for each in proposals(record) if not each.builds and "simplify" not in each.changes][:12]
    assert own
    for proposal in own:
        changed = cyscc.bfs(GRAPHS["random"], 1, config="test", memory=memory, overrides=dict(proposal.changes))
        assert 1 - changed.cycles / cycles <= proposal.most + 0.001, proposal


def test_what_speaks_for_a_change_puts_it_first() -> None:
    # Each of the two FIFOs is full nearly all the time: only both together help.
    short, *more = list(found(recorded("random", "hc2")))[:3]
    assert short == (("neighbour_depth", 16), ("word_depth", 16))
    assert set(more) == {(("engines", 4),), (("bfs_kernels", 4),)}
    star = found(recorded("star", "hc2"))
    chunks = star[("edge_chunk", 256),]
    assert chunks.cause == "no_work"
    assert list(star.values()).index(chunks) < 5
    latency = found(recorded("random", "fixed:75"))[("memory.latency", 37),]
    assert latency.cause in ("response", "credit")


def test_fewer_engines_are_proposed_early_where_kernels_rest_and_the_token_takes_long() -> None:
    places = {}
    for graph in ("path", "random"):
        every = found(recorded(graph, "hbm2"))
        places[graph] = list(every).index((("engines", 1),)) / len(every)
        assert every[("engines", 1),].reason.startswith("Kernels rest: ")
    assert places["path"] < 0.2 < places["random"]


def test_refresh_is_blamed_for_waiting_where_banks_are_hardly_used() -> None:
    order = [name for each in found(recorded("star", "hbm2")) for name, _ in each]
    assert order.index("memory.t_rfc") < min(order.index(f"memory.{name}") for name in ("t_ras", "t_faw", "t_ccd_l"))


def test_repeated_edges_are_proposed_to_be_avoided() -> None:
    every = found(recorded("repeated", "hc2"))
    # Other timing alone may avoid the repeated work, so that no change may say that it saves less.
    assert min(each.most for each in every.values()) > 0.5
    order = list(every)
    assert order.index((("simplify", True),)) < 3
    assert order.index((("remembered_ids", 128),)) < 3
    assert (("simplify", True),) not in found(recorded("star", "hc2"))


def test_a_memory_with_own_rules_has_no_proposals_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    record = record_of(Shape())
    monkeypatch.setitem(record.document, "memory_profile", {"profile": "own.py", "latency": 9})
    assert not any(name.startswith("memory.") for each in proposals(record) for name in each.changes)


@pytest.mark.parametrize("name", [name for name in PRESETS if not PRESETS[name].bfs_only])
def test_a_record_of_any_machine_has_proposals_that_are_possible(name: str) -> None:
    record = record_of(Shape(config=name))
    every = proposals(record)
    assert every
    for each in every:
        overrides = Overrides.of({key: value for key, value in each.changes.items() if key != "simplify"})
        assert "simplify" in each.changes or each.builds == (overrides.applied_to(PRESETS[name]) != PRESETS[name])
        assert 0 <= each.promise <= each.most <= 1.001
        assert each.reason.endswith(".")
        fewer = each.changes.get("engines", 4) < PRESETS[name].engines
        assert each.smaller or not fewer
