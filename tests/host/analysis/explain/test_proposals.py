"""Proposals and their predictions, against real runs of the small machine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cyscc
from cyscc.host.analysis.explain.prediction import Predictor
from cyscc.host.analysis.explain.proposals import Proposal, proposals, proposed_depths
from cyscc.host.graph.generators import random_graph
from cyscc.host.record.reader import Record
from cyscc.host.specification.overrides import Overrides
from tests.record.synthetic import Shape, write_record

Recorded = Callable[..., tuple[Record, Callable[..., int]]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Return records of a search on a memory, with a function that makes the run again with other settings."""
    graph = random_graph(1 << 9, 8, seed=1)
    kept: dict[str, Record] = {}

    def record(memory: str) -> tuple[Record, Callable[..., int]]:
        def cycles(record: str | None = None, **settings: Any) -> int:
            overrides = {f"memory.{name}": value for name, value in settings.items()}
            return cyscc.bfs(
                graph, 1, config="test", memory=memory, overrides=overrides, threads=1, record=record
            ).cycles

        if memory not in kept:
            folder = tmp_path_factory.mktemp("records") / "seen"
            cycles(record=str(folder))
            kept[memory] = Record(folder)
        return kept[memory], cycles

    return record


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
    record, cycles = recorded(memory)
    predictor = Predictor(record)
    assert predictor.memory is not None
    changed = Overrides(memory=settings).applied_to_memory(predictor.memory)
    gain = predictor.cycles - cycles(**settings)
    assert predictor.cycles - predictor.predicted(predictor.config, changed) == pytest.approx(gain, rel=0.5)


@pytest.mark.parametrize("memory", ["hc2", "fixed:75", "hbm2"])
def test_the_machine_itself_is_predicted_as_recorded(recorded: Recorded, memory: str) -> None:
    predictor = Predictor(recorded(memory)[0])
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
