"""Verdict of an explanation, and what it proposes."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cyscc
from cyscc.host.analysis.explain.evidence import BankUse, Evidence, FifoUse, LatencyUse, LinkUse
from cyscc.host.analysis.explain.observations import array_text, crossbar_share, diagnose, observe
from cyscc.host.analysis.explain.proposals import Proposal, proposals
from cyscc.host.analysis.explain.stacks import Group
from cyscc.host.analysis.explain.verdict import findings
from cyscc.host.graph.csr import Graph
from cyscc.host.graph.generators import random_graph
from cyscc.host.record.reader import ENDING, SATURATED, Record
from cyscc.host.specification.overrides import Overrides
from cyscc.sim.configuration import PRESETS
from cyscc.sim.hardware import ring_turn
from cyscc.sim.memory import Hc2
from cyscc.sim.observation.causes import CAUSES
from tests.host.analysis.report.pages import record_of
from tests.host.conftest import Answers
from tests.record.synthetic import Shape, write_record

LARGE, SMALL = Group("forward", SATURATED), Group("forward", ENDING)


def test_findings_of_a_run() -> None:
    record = record_of(Shape(iterations=2, restarted=True))
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


def test_the_host_takes_some_cycles_for_each_instruction() -> None:
    record = record_of(Shape(host=700))
    cycles, instructions = record.document["cycles"]["host"], len(record.frame("instructions"))
    (finding,) = (finding for finding in findings(record) if finding.cause == "host")
    assert (finding.cycles, finding.share) == (cycles, cycles / record.cycles)
    assert f": {cycles / instructions:.0f} cycles for each of {instructions} instructions." in finding.text


def test_repeated_work_has_what_takes_it_off(tmp_path: Path) -> None:
    record = Record(write_record(tmp_path / "record", Shape()))
    ids = record.frame("instruction_kernels")["issue_2"].sum()
    record.instructions["edges"] = [int(ids) // 2, 0, 0, 0, 0]
    found = [each for each in findings(record) if each.title.startswith("Repeated work")]
    assert found[0].title == f"Repeated work: {ids / (ids // 2):.2f} ids read for each edge"
    assert found[0].advice == (
        "remembered_ids drops ids that come again to the same kernel, visited_filter those that come again to its AE; "
        "--simplify drops edges that the graph has more than once"
    )
    record.document["run"]["options"]["simplify"] = True
    record.document["configuration"]["remembered_ids"] = 128
    assert [each.advice for each in findings(record) if each.title == found[0].title] == [""]
    record.document["configuration"]["pair_reads"] = True
    assert not [each for each in findings(record) if each.title.startswith("Repeated work")]


def test_findings_of_a_level() -> None:
    record = record_of(Shape())
    found = findings(record, record.select(level=2))
    assert {finding.phase for finding in found} == {"forward, saturated levels"}
    assert sum(finding.share for finding in found) <= 1
    evidence = Evidence(record, record.select(level=2))
    assert found[0].cycles == round(sum(evidence.stack[cause] for cause in ("refused", "credit", "response")))


def test_a_cause_that_no_diagnosis_has_is_told_of_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyscc.host.analysis.explain.verdict.diagnose", lambda *_: [])
    texts = " ".join(finding.text for finding in findings(record_of(Shape(levels=(30, 30)))))
    assert "To begin and to end costs each level " in texts


def bank(**changes: Any) -> BankUse:
    given: dict[str, Any] = {"controller": 3, "bank": 7, "accesses": 100, "waiting": 9.0, "arrays": {"words": 100}}
    given |= {"use": 0.99, "multiple": 60.0, "instruction": 2, "cycle": 64, "peak": 1.0}
    return BankUse(**given | changes)


WORDS = FifoUse(module="bfs", name="words", parameter="word_depth", depth=128, most=40, mean=9.0, instruction=2)
FRONTIER = replace(WORDS, name="frontier", parameter="frontier_depth", depth=64)


def evidence(**changes: Any) -> Any:
    """Return evidence of large levels in which nothing is much."""
    configuration = {"remembered_ids": 0, "blocking_reservation": False, "visit_depth": 64}
    configuration |= {"link_queues": 0, "edge_chunk": 0, "issue_interval": 1}
    memory = Hc2().describe()
    given: dict[str, Any] = {
        "bank": bank(use=0.3, multiple=1.2),
        "banks_use": 0.25,
        "links": LinkUse(mean=0.3, most=0.35, engine=1, link=5, waiting=1.5),
        "fifos": [replace(FRONTIER, under_way=9.0), replace(WORDS, under_way=90.0)],
        "latency": LatencyUse(least=75, median=76, high=90, most=99, mean=78.0),
        "turn": 100,
        "unevenness": 1.4,
        "ordering": 0.0,
        "requests": (900.0, 300.0),
        "kernels": 64,
        "cycles": 10_000,
        "rows": pd.DataFrame({"frontier": [5, 9]}),
        "share": lambda *causes: 0.125 * len(causes),
        "each": lambda *causes: 625.0 * len(causes),
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


QUEUEING = LatencyUse(least=75, median=120, high=900, most=999, mean=879.0)
CREDIT = {"share": lambda *causes: {"credit": 0.4}.get(causes[0], 0.1) if len(causes) == 1 else 0.6}
WAITING = {"share": lambda *causes: 0.5 if causes == ("response",) else 0.01}
NOTHING_SHARED: dict[str, Any] = {"bank": None, "links": None}


def short(under_way: float, *, frontier: float = 9.0, mean: float = 879.0, **changes: Any) -> dict[str, Any]:
    """Return evidence of places for answers that are promised to reads on average."""
    fifos = [replace(FRONTIER, under_way=frontier), replace(WORDS, under_way=under_way)]
    links = LinkUse(mean=0.2, most=0.3, engine=1, link=5, waiting=1.5)
    memory = {"latency": replace(QUEUEING, mean=mean), "bank": bank(use=0.3), "links": links}
    return {**CREDIT, **memory, "fifos": fifos, **changes}


OBSERVED: dict[str, tuple[str, Group, dict[str, Any]]] = {
    "a bank": ("refused", LARGE, {"bank": bank()}),
    "a bank of queues": ("refused", LARGE, {"bank": bank(arrays={"queues": 100})}),
    "all banks": ("refused", LARGE, {"banks_use": 0.9}),
    "nothing is busy": ("refused", LARGE, {}),
    "queues at the links": ("refused", LARGE, {"link_queues": 8}),
    "no reads": ("refused", LARGE, {"latency": None}),
    "latency of small levels": ("response", SMALL, {}),
    "answers in order": ("response", LARGE, {"latency": QUEUEING, "ordering": 790.4}),
    "latency is blamed where reads hardly wait for each other": ("response", LARGE, WAITING),
    "and not where they do": ("response", LARGE, {**WAITING, "latency": QUEUEING}),
    "no FIFOs": ("credit", LARGE, {**CREDIT, "fifos": []}),
    "more places would be used": ("credit", LARGE, short(90.0, mean=78.0)),
    "a bank would be used up before": ("credit", LARGE, short(90.0, mean=78.0, bank=bank(use=0.8))),
    "more places would not be used": ("credit", LARGE, short(60.0, mean=78.0)),
    "reads queue a little": ("credit", LARGE, short(90.0, mean=120.0)),
    "more reads would wait in the memory": ("credit", LARGE, short(200.0, bank=bank(use=0.95))),
    # What reads wait for, where nothing in the memory is near what it can carry, more places may hide.
    "nothing is near what it can carry": ("credit", LARGE, short(200.0, bank=bank(use=0.8))),
    # Where nothing is shared there is nothing to wait for but the order of answers.
    "nothing is shared": ("credit", LARGE, short(90.0, **NOTHING_SHARED)),
    "another FIFO is nearly as short": ("credit", LARGE, short(100.0, frontier=45.0, mean=78.0)),
    "another FIFO is not as short": ("credit", LARGE, short(100.0, frontier=44.9, mean=78.0)),
    "slots": ("slot", LARGE, {}),
    "slots, as published": ("slot", LARGE, {"blocking_reservation": True}),
    "no work": ("no_work", LARGE, {}),
    "no work, with chunks": ("no_work", LARGE, {"edge_chunk": 64}),
    "no work in an intersection": ("no_work", Group("intersection", ""), {}),
    "rest": ("resting", LARGE, {}),
    "requests": ("issue_2", LARGE, {}),
    "requests with rests": ("issue_2", LARGE, {"issue_interval": 2}),
    "ends": ("ending", SMALL, {}),
    "flushes": ("flush", SMALL, {}),
    "an exchange": ("exchange", LARGE, {}),
    "ids": ("ids", LARGE, {}),
}
DIAGNOSED: dict[str, tuple[Group, dict[str, Any]]] = {
    "small levels": (SMALL, {"requests": (6.0, 6.0)}),
    "small levels of one kernel": (SMALL, {"requests": (999.0, 6.0)}),
    "intersections": (Group("intersection", ""), {"requests": (900.0, 300.0)}),
    "small intersections": (Group("intersection", ""), {"requests": (310.0, 299.0)}),
}


def test_observations_are_as_pinned(answers: Answers) -> None:
    told = []
    for name, (cause, group, changes) in OBSERVED.items():
        observation = observe(cause, group, evidence(**changes))
        told.append(f"{name}: {observation.title}\n  {observation.text}\n")
    for name, (group, changes) in DIAGNOSED.items():
        ((causes, observation),) = diagnose(group, evidence(**changes))
        told.append(f"{name}: {observation.title} ({', '.join(causes)})\n  {observation.text}\n")
    answers("observations", "".join(told))


@pytest.mark.parametrize("use", [0.6, 0.68, 0.7, 0.72, 0.99])
def test_no_use_of_a_bank_turns_the_verdict_over(use: float) -> None:
    ((causes, observation),) = diagnose(LARGE, evidence(bank=bank(use=use), latency=QUEUEING))
    assert (causes, observation.title) == (("refused", "credit", "response"), "waiting for the memory")
    assert f"Busiest: bank 3.7 (words 100%) {use:.0%}, " in observation.text


@pytest.mark.parametrize("kernels", [8, 3])
def test_the_token_of_intersections_passes_each_kernel(kernels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whose BFS kernels are one hop of their ring, behind a switch and a filter.
    record = record_of(Shape(config="fast", iterations=1))
    rows = record.instructions
    assert Evidence(record, rows[rows["module"] == "bfs"]).turn == ring_turn(PRESETS["fast"])
    monkeypatch.setitem(record.machine["kernels"], "intersection", kernels)
    turn = Evidence(record, rows[rows["module"] == "intersection"]).turn
    assert turn == ring_turn(PRESETS["hc2"]) - 4 * (16 - kernels)


def test_what_a_crossbar_carries() -> None:
    assert crossbar_share(1) == pytest.approx(2 - 2**0.5)
    assert [crossbar_share(2), crossbar_share(0)] == pytest.approx([(3 - 5**0.5) / 2, 0])


def test_arrays_of_a_bank_that_matter_are_named() -> None:
    found = array_text(bank(accesses=200, arrays={"words": 140, "queues": 40, "colours": 20}))
    assert found == "words 70%, queues 20%"
    assert array_text(bank(accesses=200, arrays={"words": 161, "queues": 39})) == "words 80%"
    assert array_text(bank(accesses=90, arrays={"words": 30, "queues": 30, "colours": 30})) == "words 33%, queues 33%"


def test_every_cause_of_an_instruction_has_an_observation() -> None:
    inside = [cause.name for cause in CAUSES if cause.kind != "outside"]
    assert [name for name in inside if not observe(name, LARGE, evidence()).text] == []


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
    order = [name.removeprefix("memory.") for each in found(recorded("star", "hbm2")) for name, _ in each]
    assert order.index("t_rfc") < min(map(order.index, ("t_rcd", "t_rp", "t_ras", "t_faw", "t_ccd_l")))


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
