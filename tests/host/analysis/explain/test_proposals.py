"""Proposals and their predictions, against real runs of the small machine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cyscc
from cyscc.host.analysis.explain.prediction import Predictor
from cyscc.host.analysis.explain.proposals import Proposal, not_predicted, proposals, proposed_depths
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.configuration import PRESETS
from tests.record.synthetic import Shape, write_record

Recorded = Callable[..., tuple[Record, Callable[..., int]]]

LEAVES = 1 << 11
STAR = "a star"
GRAPHS = {
    "random": random_graph(1 << 9, 8, seed=1),
    # An edge leads to a hub, from which edges lead to all others.
    STAR: Graph.from_edges(
        LEAVES, np.array([1] + [0] * (LEAVES - 2), np.uint32), np.array([0, *range(2, LEAVES)], np.uint32)
    ),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Return records of searches, with a function that makes the run again with other settings."""
    kept: dict[tuple[str, ...], Record] = {}

    def record(memory: str, config: str = "test", graph: str = "random") -> tuple[Record, Callable[..., int]]:
        def cycles(settings: dict[str, Any], record: str | None = None) -> int:
            return cyscc.bfs(
                GRAPHS[graph], 1, config=config, memory=memory, overrides=settings, threads=1, record=record
            ).cycles

        if (memory, config, graph) not in kept:
            folder = tmp_path_factory.mktemp("records") / "seen"
            cycles({}, record=str(folder))
            kept[memory, config, graph] = Record(folder)
        return kept[memory, config, graph], cycles

    return record


def gains(recorded: Recorded, settings: dict[str, Any], *run: str) -> tuple[int, int]:
    """Return the predicted and the measured gain of changed settings."""
    record, cycles = recorded(*run)
    predictor, changes = Predictor(record), Overrides.of(settings)
    assert predictor.memory is not None
    changed = changes.applied_to(predictor.config), changes.applied_to_memory(predictor.memory)
    return predictor.cycles - predictor.predicted(*changed), predictor.cycles - cycles(settings)


@pytest.mark.parametrize(
    ("memory", "settings"),
    [
        ("hc2", {"request_travel": 15}),
        ("hc2", {"bank_busy": 120}),
        ("hc2", {"reads_in_flight": 2}),
        ("fixed:75", {"latency": 150}),
        ("fixed:75", {"latency": 37}),
        ("hbm2", {"way_back": 400}),
    ],
)
def test_predictions_come_true(recorded: Recorded, memory: str, settings: dict[str, int]) -> None:
    predicted, measured = gains(recorded, {f"memory.{name}": value for name, value in settings.items()}, memory)
    assert predicted == pytest.approx(measured, rel=0.5)


@pytest.mark.parametrize(
    ("settings", "config", "graph"),
    [
        ({"memory.request_travel": 15}, "fast-test", "random"),
        ({"memory.bank_busy": 120}, "fast-test", "random"),
        ({"word_depth": 16}, "fast-test", "random"),
        ({"visited_filter": 512}, "fast-test", "random"),
        ({"edge_chunk": 256}, "test", STAR),
    ],
)
def test_predictions_of_options_come_true(
    recorded: Recorded, settings: dict[str, Any], config: str, graph: str
) -> None:
    predicted, measured = gains(recorded, settings, "hc2", config, graph)
    assert predicted == pytest.approx(measured, rel=0.3)


def test_an_option_of_much_use_is_proposed(recorded: Recorded) -> None:
    record, _ = recorded("hc2", "test", STAR)
    assert [dict(each.changes) for each in proposals(record)] == [{"edge_chunk": 256}]
    record, _ = recorded("hc2", "fast-test")
    found = [(dict(each.changes), each.cause) for each in proposals(record)]
    assert ({"visited_filter": 512}, "issue_3") in found
    assert ({"word_depth": 16}, "exchange") in found


def test_what_is_not_predicted_is_said(recorded: Recorded) -> None:
    assert not_predicted(recorded("hc2")[0]) == ""
    record, _ = recorded("hc2", "fast-test")
    assert not_predicted(record) == "Not predicted, as a record tells too little: fewer engines, a larger edge_chunk."
    assert not any("engines" in each.changes and each.smaller for each in proposals(record))
    alone = Record(record.folder)
    alone.document["configuration"] |= {"engines": 1, "edge_chunk": 0}
    assert not_predicted(alone) == ""


@pytest.mark.parametrize("memory", ["hc2", "fixed:75", "hbm2"])
@pytest.mark.parametrize("config", ["test", "fast-test"])
def test_the_machine_itself_is_predicted_as_recorded(recorded: Recorded, memory: str, config: str) -> None:
    predictor = Predictor(recorded(memory, config)[0])
    assert predictor.predicted(predictor.config, predictor.memory) == predictor.cycles


def test_more_of_a_good_thing_helps_more(recorded: Recorded) -> None:
    predictor = Predictor(recorded("fixed:75")[0])
    assert predictor.memory is not None
    memories = [replace(predictor.memory, latency=latency) for latency in (20, 50, 75, 150, 300)]  # type: ignore[call-arg]
    found = [predictor.predicted(predictor.config, memory) for memory in memories]
    assert found == sorted(found)


@pytest.mark.parametrize("memory", ["hc2", "fixed:75"])
def test_proposals_are_ordered_and_worth_a_run(recorded: Recorded, memory: str) -> None:
    record, _ = recorded(memory)
    found = proposals(record)
    assert found == sorted(found, key=lambda each: each.cycles)
    assert 0 < len(found) <= 10
    cycles = record.document["cycles"]["instructions"]
    for proposal in found:
        assert proposal.cycles <= 0.98 * cycles
        assert proposal.reason
        assert proposal.changes
        # A record does not tell how many edges are repeated.
        assert "simplify" not in proposal.changes


def test_a_memory_with_own_rules_has_no_proposals_for_itself(tmp_path: Path) -> None:
    record = Record(write_record(tmp_path / "record", Shape()))
    record.document["memory_profile"] = {"profile": "own.py", "latency": 9}
    assert not any(name.startswith("memory.") for each in proposals(record) for name in each.changes)


@pytest.mark.parametrize("name", [name for name in PRESETS if not PRESETS[name].bfs_only])
def test_a_record_of_any_machine_has_proposals(tmp_path: Path, name: str) -> None:
    record = Record(write_record(tmp_path / "record", Shape(config=name)))
    for proposal in proposals(record):
        assert Overrides.of(dict(proposal.changes)).applied_to(PRESETS[name])


def test_depths_are_proposed_only_where_they_are_predicted_to_help(monkeypatch: pytest.MonkeyPatch) -> None:
    record: Any = type(
        "Seen", (), {"machine": {"fifos": {"bfs": [{"parameter": "word_depth"}, {"parameter": "visit_depth"}]}}}
    )()

    def of_record(record: Any) -> list[Proposal]:
        changes: tuple[dict[str, int], ...] = (
            {"word_depth": 256},
            {"word_depth": 256, "visit_depth": 128},
            {"memory.banks": 256},
        )
        return [Proposal(changes=each, cause="credit", cycles=1, reason="More.") for each in changes]

    monkeypatch.setattr("cyscc.host.analysis.explain.proposals.proposals", of_record)
    assert proposed_depths(record) == {"word_depth": 256}
