"""The verdict: selection of findings, their texts and proposals."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from cyscc.host.analysis.explain.evidence import BankUse, Evidence, FifoUse, LatencyUse, LinkUse
from cyscc.host.analysis.explain.observations import array_text, crossbar_share, diagnose, observe
from cyscc.host.analysis.explain.stacks import Group
from cyscc.host.analysis.explain.verdict import findings, findings_of
from cyscc.host.record.reader import ENDING, SATURATED, Record
from cyscc.sim.memory import Hc2
from cyscc.sim.observation.causes import CAUSES, cause_named
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
    assert "whole run" in {finding.phase for finding in found}
    parts = {part.phase for finding in found for part in finding.parts}
    assert parts >= {"forward, growing levels", "backward, growing levels"}
    for finding in found:
        assert sum(part.share for part in finding.parts) in (0, pytest.approx(finding.share))


def test_the_host_takes_some_cycles_for_each_instruction(tmp_path: Path) -> None:
    record = Record(write_record(tmp_path / "record", Shape(host=700)))
    cycles, instructions = record.document["cycles"]["host"], len(record.frame("instructions"))
    (finding,) = (finding for finding in findings(record) if finding.cause == "host")
    assert (finding.cycles, finding.share) == (cycles, cycles / record.cycles)
    assert f": {cycles / instructions:.0f} cycles for each of {instructions} instructions." in finding.text


def test_findings_of_a_level(tmp_path: Path) -> None:
    record = Record(write_record(tmp_path / "record", Shape()))
    found = findings_of(record, record.select(level=2))
    assert {finding.phase for finding in found} == {"forward, saturated levels"}
    assert sum(finding.share for finding in found) <= 1
    evidence = Evidence(record, record.select(level=2))
    assert found[0].cycles == round(max(evidence.stack.values()))


def bank(**changes: Any) -> BankUse:
    given: dict[str, Any] = {"controller": 3, "bank": 7, "accesses": 100, "waiting": 9.0, "arrays": {"words": 100}}
    given |= {"use": 0.99, "multiple": 60.0, "instruction": 2, "cycle": 64, "peak": 1.0}
    return BankUse(**given | changes)


def evidence(**changes: Any) -> Any:
    """Return evidence of large levels in which nothing is much."""
    configuration = {"remembered_ids": 0, "blocking_reservation": False, "visit_depth": 64}
    configuration |= {"link_queues": 0, "edge_chunk": 0}
    memory = Hc2().describe()
    fifo = FifoUse(module="bfs", name="words", parameter="word_depth", depth=128, most=40, mean=9.0, instruction=2)
    given: dict[str, Any] = {
        "bank": bank(use=0.3, multiple=1.2),
        "banks_use": 0.25,
        "links": LinkUse(mean=0.3, most=0.35, engine=1, link=5, waiting=1.5),
        "fifos": [replace(fifo, parameter="frontier_depth", depth=64, under_way=9.0), replace(fifo, under_way=90.0)],
        "latency": LatencyUse(least=75, median=76, high=90, most=99, mean=78.0),
        "turn": 100,
        "unevenness": 1.4,
        "starved": 0.1,
        "short": 1,
        "kernels": 64,
        "cycles": 10_000,
        "rows": pd.DataFrame({"frontier": [5, 9]}),
        "share": lambda *causes: 0.125 * len(causes),
        "record": SimpleNamespace(
            document={"configuration": configuration, "memory_profile": memory},
            memory={"controllers": 8, "links": 16, "banks": 128},
            machine={"kernels": {"bfs": 16, "intersection": 8}},
        ),
    }
    unknown = set(changes) - {*given, *configuration}
    assert unknown == set()
    configuration |= {name: changes.pop(name) for name in configuration if name in changes}
    return SimpleNamespace(**given | changes)


CROWDED_LINKS = LinkUse(mean=0.55, most=0.6, engine=0, link=0, waiting=9)
BUSY_LINK = LinkUse(mean=0.4, most=0.95, engine=2, link=3, waiting=9)
QUEUEING = LatencyUse(least=75, median=120, high=900, most=999, mean=150.0)


@pytest.mark.parametrize(
    ("cause", "group", "changes", "text"),
    [
        ("refused", LARGE, {"bank": bank()}, "Bank 7 of controller 3 (words 100%) is busy 99%"),
        ("refused", LARGE, {"bank": bank(arrays={"queues": 100})}, "(queues 100%)"),
        ("refused", LARGE, {"banks_use": 0.9}, "All banks together are busy 90%"),
        ("refused", LARGE, {"links": CROWDED_LINKS}, "59%"),
        ("refused", LARGE, {"links": BUSY_LINK}, "Link 3 of AE 2 is busy 95%"),
        ("refused", LARGE, {}, "Links carry 30%"),
        ("refused", LARGE, {"links": None}, "by its own rules"),
        ("response", SMALL, {}, "the 75 cycles of a read"),
        ("credit", LARGE, {}, "90 of the 128 of words are promised"),
        ("credit", LARGE, {"fifos": []}, ""),
        ("slot", LARGE, {}, "100 cycles for a turn"),
        ("slot", LARGE, {"blocking_reservation": True}, "only when its last slot is used up"),
        ("no_work", SMALL, {"starved": 0.9}, "In 1 of 2 levels the queue has fewer entries"),
        ("no_work", LARGE, {}, "a hub serialises its level"),
        ("no_work", LARGE, {"unevenness": 1.1}, "1.10 times as long as the mean one. Shares differ by chance"),
        ("no_work", Group("intersection", ""), {}, "1.40 times"),
        ("resting", LARGE, {}, "a cycle between two requests"),
        ("resting", LARGE, {"bank": bank()}, "There is a hot bank, too."),
        ("issue_2", LARGE, {}, "a request in 50% of their cycles"),
        ("ending", SMALL, {}, "costs each level 1250 cycles; a turn of the token is 100"),
        ("flush", SMALL, {}, "625 cycles go by each time"),
        ("refused", LARGE, {"link_queues": 8}, "bursts fill the switch's queues"),
        ("refused", LARGE, {"links": CROWDED_LINKS, "link_queues": 8}, "Links carry 55%"),
        ("issue_2", LARGE, {"link_queues": 8}, "their ways into the switch are the limit"),
        ("no_work", SMALL, {"starved": 0.9, "edge_chunk": 64}, "and an entry's edges, 64 at most, stay on one kernel"),
        ("no_work", LARGE, {"edge_chunk": 64}, "1.40 times as long as the mean one. An entry has 64 edges at most"),
        ("exchange", LARGE, {}, "Ids wait for the kernels that own them"),
        ("ids", LARGE, {}, "others of their AE are still reading"),
    ],
)
def test_observation(cause: str, group: Group, changes: dict[str, Any], text: str) -> None:
    observation = observe(cause, group, evidence(**changes))
    assert observation.title == cause_named(cause).title
    assert text in observation.text


@pytest.mark.parametrize(
    ("group", "changes", "causes", "title", "text"),
    [
        (
            LARGE,
            {"bank": bank(), "latency": QUEUEING},
            "refused response credit exchange",
            "a hot bank",
            "150 cycles on average",
        ),
        (
            LARGE,
            {"links": CROWDED_LINKS, "latency": QUEUEING},
            "refused response credit exchange",
            "head-of-line",
            "59%",
        ),
        (
            SMALL,
            {"cycles": 900},
            "no_work ids response starting ending flush",
            "fixed cost",
            "450 cycles each, with 7.0 entries",
        ),
    ],
)
def test_one_reason_for_several_causes(
    group: Group, changes: dict[str, Any], causes: str, title: str, text: str
) -> None:
    ((found, observation),) = diagnose(group, evidence(**changes))
    assert found == tuple(causes.split())
    assert title in observation.title
    assert text in observation.text


@pytest.mark.parametrize(
    ("group", "changes"),
    [
        (LARGE, {"bank": bank()}),  # reads do not queue
        (LARGE, {"latency": QUEUEING}),  # nothing is busy
        (SMALL, {"bank": bank(), "latency": QUEUEING}),  # large for a small level
        (Group("intersection", ""), {}),
    ],
)
def test_no_one_reason(group: Group, changes: dict[str, Any]) -> None:
    assert diagnose(group, evidence(**changes)) == []


LINKS = LinkUse(mean=0.3, most=0.35, engine=1, link=5, waiting=1.5)


@pytest.mark.parametrize(
    ("cause", "group", "changes", "said"),
    [
        ("refused", LARGE, {"bank": bank(use=0.7, multiple=1.5)}, "Bank 7"),
        ("refused", LARGE, {"bank": bank(use=0.69, multiple=1.5)}, "Links carry"),
        ("refused", LARGE, {"bank": bank(use=0.7, multiple=1.49)}, "Links carry"),
        ("refused", LARGE, {"banks_use": 0.7}, "All banks together"),
        ("refused", LARGE, {"banks_use": 0.69}, "Links carry"),
        ("refused", LARGE, {"links": replace(LINKS, mean=0.25, most=0.7)}, "Link 5"),
        ("refused", LARGE, {"links": replace(LINKS, mean=0.5, most=0.75)}, "Link 5"),
        ("refused", LARGE, {"links": replace(LINKS, mean=0.47, most=0.7)}, "Links carry 47%"),
        ("refused", LARGE, {"links": replace(LINKS, mean=0.3, most=0.69)}, "Links carry 30%"),
        ("no_work", SMALL, {"starved": 0.51}, "In 1 of 2 levels"),
        ("no_work", SMALL, {"starved": 0.5}, "The last kernel"),
    ],
)
def test_what_counts_as_much(cause: str, group: Group, changes: dict[str, Any], said: str) -> None:
    assert observe(cause, group, evidence(**changes)).text.startswith(said)


def test_what_counts_as_blocking() -> None:
    share = crossbar_share(1)
    assert share == pytest.approx(2 - 2**0.5)
    assert [crossbar_share(2), crossbar_share(0)] == pytest.approx([(3 - 5**0.5) / 2, 0])
    at, below = (observe("refused", LARGE, evidence(links=replace(LINKS, mean=0.85 * share * x))) for x in (1, 0.999))
    assert "the one at the head" in at.text
    assert "bursts" in below.text


@pytest.mark.parametrize(
    ("group", "changes", "count"),
    [
        # Two levels of four reads, 75 cycles each, and a turn of 100: three times that.
        (SMALL, {"cycles": 2400}, 1),
        (SMALL, {"cycles": 2401}, 0),
        (SMALL, {"cycles": 600, "latency": None}, 1),
        (SMALL, {"cycles": 601, "latency": None}, 0),
        (LARGE, {"bank": bank(), "latency": replace(QUEUEING, mean=112.5)}, 1),
        (LARGE, {"bank": bank(), "latency": replace(QUEUEING, mean=112.4)}, 0),
        (LARGE, {"bank": bank(), "latency": None}, 0),
    ],
)
def test_what_counts_as_small_and_as_slow(group: Group, changes: dict[str, Any], count: int) -> None:
    assert len(diagnose(group, evidence(**changes))) == count


def test_what_counts_as_uneven() -> None:
    at, below = (observe("no_work", LARGE, evidence(unevenness=unevenness)) for unevenness in (1.2, 1.19))
    assert "a hub" in at.text
    assert "chance" in below.text


def test_fifos_that_are_nearly_as_short_are_named_with_the_tightest() -> None:
    fifos = evidence().fifos
    tight = replace(fifos[1], under_way=100.0)
    for under_way, named in ((45.0, "45 of the 64 of frontier, 100 of"), (44.9, "works, 100 of")):
        found = observe(
            "credit", LARGE, evidence(fifos=[replace(fifos[0], name="frontier", under_way=under_way), tight])
        )
        assert named in found.text
    # A FIFO that takes no answers is not named, nor are more places promised than there are.
    found = observe("credit", LARGE, evidence(fifos=[replace(fifos[0], under_way=None), replace(tight, under_way=200)]))
    assert "while a kernel works, 128 of the 128 of words are" in found.text


def test_arrays_of_a_bank_that_matter_are_named() -> None:
    found = array_text(bank(accesses=200, arrays={"words": 140, "queues": 40, "colours": 20}))
    assert found == "words 70%, queues 20%"
    assert array_text(bank(accesses=200, arrays={"words": 161, "queues": 39})) == "words 80%"
    assert array_text(bank(accesses=90, arrays={"words": 30, "queues": 30, "colours": 30})) == "words 33%, queues 33%"


def test_every_cause_of_an_instruction_has_an_observation() -> None:
    inside = [cause.name for cause in CAUSES if cause.kind != "outside"]
    assert [name for name in inside if not observe(name, LARGE, evidence()).text] == []


def test_a_crossbar_with_more_links_than_ports_carries_less_of_what_they_could() -> None:
    found = evidence(links=replace(CROWDED_LINKS, mean=0.35, most=0.4))
    found.record.memory = {"controllers": 32, "links": 32, "banks": 16}
    assert "38% at most" in observe("refused", LARGE, found).text
