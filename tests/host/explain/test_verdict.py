"""The verdict: what is worth saying, what it says, and what it proposes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from host.explain.advice import advise
from host.explain.evidence import BankUse, Evidence, FifoUse, LatencyUse, LinkUse
from host.explain.verdict import findings, findings_of
from host.explain.view import ENDING, SATURATED, Group, View
from host.record.reader import Record
from sim.observation.causes import CAUSES
from tests.record.synthetic import Shape, write_record

LARGE, SMALL = Group("forward", SATURATED), Group("forward", ENDING)


def test_findings_of_a_run(tmp_path: Path) -> None:
    record = Record(write_record(tmp_path / "record", Shape(iterations=2, restarted=True)))
    found = findings(record)
    assert [finding.cycles for finding in found] == sorted((finding.cycles for finding in found), reverse=True)
    assert all(finding.share == pytest.approx(finding.cycles / record.cycles, abs=1e-3) for finding in found)
    restarted = next(finding for finding in found if finding.cause == "restarted")
    assert restarted.cycles == record.document["cycles"]["restarted"]
    assert "--queue-slack" in restarted.advice
    assert {finding.phase for finding in found} >= {"whole run", "forward, growing levels", "backward, growing levels"}


def test_findings_of_a_level(tmp_path: Path) -> None:
    view = View(Record(write_record(tmp_path / "record", Shape())))
    found = findings_of(view, view.select(level=2))
    assert {finding.phase for finding in found} == {"forward, saturated levels"}
    assert sum(finding.share for finding in found) <= 1
    evidence = Evidence(view, view.select(level=2))
    assert found[0].cycles == round(max(evidence.stack.values()))


def bank(**changes: Any) -> BankUse:
    given: dict[str, Any] = {"controller": 3, "bank": 7, "accesses": 100, "waiting": 9.0, "arrays": {"words": 100}}
    given |= {"use": 0.99, "multiple": 60.0, "instruction": 2, "cycle": 64, "peak": 1.0}
    return BankUse(**given | changes)


def evidence(**changes: Any) -> Any:
    """Return evidence of large levels in which nothing is much."""
    configuration = {"remembered_ids": 0, "blocking_reservation": False, "visit_depth": 64}
    given: dict[str, Any] = {
        "bank": bank(use=0.3, multiple=1.5),
        "banks_use": 0.25,
        "links": LinkUse(mean=0.3, most=0.35, engine=1, link=5, waiting=1.5),
        "fifos": [FifoUse(name="word", parameter="word_depth", depth=128, most=40, mean=9.0, instruction=2)],
        "latency": LatencyUse(least=75, median=76, high=90, most=99, mean=78.0),
        "turn": 100.0,
        "unevenness": 1.4,
        "frontier": 9000.0,
        "kernels": 64,
        "cycles": 10_000,
        "rows": [0, 1],
        "share": lambda *causes: 0.125 * len(causes),
        "view": SimpleNamespace(record=SimpleNamespace(document={"configuration": configuration})),
    }
    unknown = set(changes) - {*given, *configuration}
    assert unknown == set()
    configuration |= {name: changes.pop(name) for name in configuration if name in changes}
    return SimpleNamespace(**given | changes)


@pytest.mark.parametrize(
    ("cause", "group", "changes", "text", "advice"),
    [
        ("refused", LARGE, {"bank": bank()}, "bank 7 of controller 3 (words 100%) was busy 99%", "remembered_ids"),
        ("refused", LARGE, {"bank": bank(arrays={"queues": 100})}, "(queues 100%)", "bank_busy"),
        ("refused", LARGE, {"bank": bank(), "remembered_ids": 64}, "(words 100%)", "bank_busy always"),
        ("refused", LARGE, {"banks_use": 0.9}, "All banks are busy 90%", "More banks or controllers"),
        ("refused", LARGE, {"links": LinkUse(mean=0.55, most=0.6, engine=0, link=0, waiting=9)}, "59 %", "links"),
        ("refused", LARGE, {"links": LinkUse(mean=0.4, most=0.95, engine=2, link=3, waiting=9)}, "Link 3", "link_bit"),
        ("refused", LARGE, {}, "Links carry 30%", "port_queue"),
        ("refused", LARGE, {"links": None}, "by its own rules", ""),
        ("response", SMALL, {}, "the 75 cycles of a read", "request_travel"),
        (
            "response",
            LARGE,
            {"latency": LatencyUse(least=75, median=120, high=900, most=999, mean=150.0)},
            "150 cycles on average, 75 at best",
            "banks",
        ),
        (
            "credit",
            LARGE,
            {"fifos": [FifoUse(name="word", parameter="word_depth", depth=128, most=128, mean=99.0, instruction=1)]},
            "128 of 128 entries, 99.0 on average",
            "word_depth = 256",
        ),
        ("credit", LARGE, {}, "hold all places", ""),
        ("slot", LARGE, {}, "100 cycles for a turn", "visit_depth, now 64"),
        ("slot", LARGE, {"blocking_reservation": True}, "100 cycles", "blocking_reservation = false"),
        ("no_work", SMALL, {"frontier": 3.0}, "3.0 entries on average cannot feed 64 kernels", "Fewer kernels"),
        ("no_work", LARGE, {}, "1.40 times", "a hub"),
        ("resting", LARGE, {}, "a cycle between two requests", "issue_interval = 1"),
        ("issue_2", LARGE, {}, "a request in 50% of their cycles", "More kernels"),
        ("ending", SMALL, {}, "cost each of them 1875 cycles", "ring_stages"),
    ],
)
def test_advice(cause: str, group: Group, changes: dict[str, Any], text: str, advice: str) -> None:
    said, proposed = advise(cause, group, evidence(**changes))
    assert text in said
    assert advice in proposed
    assert bool(advice) == bool(proposed)


def test_every_cause_of_an_instruction_has_advice() -> None:
    inside = [cause.name for cause in CAUSES if cause.kind != "outside"]
    assert [name for name in inside if not advise(name, LARGE, evidence())[0]] == []
