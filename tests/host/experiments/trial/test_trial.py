"""Trials: conclusion and table, for cycles and areas that are made up."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.analysis.explain.proposals import Proposal
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.points import PointRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep.recorded import RecordedPoints
from cyscc.host.experiments.trial import trial as trials
from cyscc.host.experiments.trial.trial import Attempt, Trial, attempt_line, checked_seconds, conclusion, trial_answer
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.specification.run import RunSpec
from tests.record.synthetic import Shape, write_record
from tests.refusals import refused

CYCLES = 2_870
"""Cycles of the record in instructions."""

POINT = PointRequest(
    graph=GraphSpec(kind="random", degree=2, vertices=8, seed=0),
    spec=RunSpec(algorithm="bfs", graph="g", config="test", record="r"),
)


def attempt(
    settings: Mapping[str, Any],
    change: float | None = 0.0,
    most: float | None = None,
    area: tuple[int, int] | None = None,
    *,
    smaller: bool = False,
    stopped: bool = False,
) -> Attempt:
    """Return an attempt on the record's run; without a change it has failed, or was stopped."""
    proposal = None
    if most is not None:
        proposal = Proposal(changes=settings, cause="credit", most=most, promise=most, reason="So.", smaller=smaller)
    return Attempt(
        settings=settings,
        proposal=proposal,
        point=POINT,
        cycles=None if change is None else round(CYCLES * (1 + change)),
        change=change,
        failure="cycle limit of 50 reached" if change is None and not stopped else "",
        stopped=stopped,
        area={} if area is None else {"luts": area[0], "registers": 500, "block_ram": area[1]},
    )


@pytest.fixture
def record(tmp_path: Path) -> Record:
    write_record(tmp_path / "seen", Shape())
    return Record(tmp_path / "seen")


@pytest.fixture(autouse=True)
def without_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the attempts, which have no records, have causes."""
    monkeypatch.setattr(trials, "compare", lambda *_: None)
    monkeypatch.setattr(trials, "causes_of", lambda _: ["The causes are these."])
    monkeypatch.setattr(PointRequest, "record", lambda *_: None)


def trial(record: Record, *attempts: Attempt, area: tuple[int, int] | None = None, more: float = 0) -> Trial:
    plan = Plan(folder=record.folder.parent / "runs")
    plan.made, plan.found = 1, len(attempts)
    return Trial(
        record=record,
        plan=plan,
        runs=[attempt({}, more, area=area), *attempts],
        left=2 if any(each.stopped for each in attempts) else 0,
        weighed=area is not None,
    )


def table(made: Trial) -> list[list[str]]:
    """Return the words of the rows of a trial's table, its head first."""
    text = trial_answer(made).text()
    return [row.split() for row in text.split("\nchanges, cycles in instructions\n")[1].split("\n\n")[0].splitlines()]


def test_best_slower_stopped_and_failed(record: Record) -> None:
    made = trial(
        record,
        attempt({"word_depth": 64}, -0.02),
        attempt({"link_cycles": 0}, 0.012),
        attempt({"memory.banks": 256, "memory.links": 4}, -0.05, 0.2),
        attempt({"visit_depth": 128}, None, 0.3, stopped=True),
        attempt({"ring_stages": 0}, None, 0.1),
    )
    assert made.best is made.attempts[2]
    assert conclusion(made) == [
        "Best: memory.banks=256, memory.links=4, 144 cycles fewer (-5.0%), with the same FPGAs.",
        "Why: So. The causes are these.",
        "Slower: link_cycles=0 (+1.2%).",
        "Stopped: 1 run, which took more cycles than the best one before.",
        "Not tried: 2 proposals, as the time was over; --limit gives more.",
        "Failed: ring_stages=0 (cycle limit of 50 reached).",
    ]
    heads, _, slower, _, stopped, failed = table(made)
    assert heads == ["change", "at", "most", "measured"]
    assert slower == ["link_cycles=0", "2,904", "+1.2%"]
    assert stopped == ["visit_depth=128", "-30.0%", "stopped"]
    assert failed == ["ring_stages=0", "-10.0%", "failed"]
    assert attempt_line(made.attempts[2]) == "memory.banks=256, memory.links=4: at most -20.0%, 2,726, -5.0%"


def test_cost_in_area(record: Record) -> None:
    made = trial(
        record,
        attempt({"word_depth": 64}, -0.02, area=(1_100, 30)),
        attempt({"visit_depth": 32}, 0.003, area=(900, 36)),
        attempt({"frontier_depth": 32}, 0.2, area=(800, 36)),
        attempt({"memory.banks": 256}, -0.01, area=(1_000, 36)),
        attempt({"engines": 2}, -0.001),
        area=(1_000, 36),
    )
    assert conclusion(made) == [
        "Best: word_depth=64, 57 cycles fewer (-2.0%), for +100 LUTs, -6 block RAM in Kb.",
        "Why: The causes are these.",
        "Slower: frontier_depth=32 (+20.0%).",
        "Smaller, and not slower: visit_depth=32 (+0.3%, -100 LUTs).",
        "By cycles x LUTs: visit_depth=32, 0.90 of the present product.",
        "By cycles x registers: word_depth=64, 0.98 of the present product.",
        "By cycles x block RAM in Kb: word_depth=64, 0.82 of the present product.",
    ]
    heads, *rows = table(made)
    assert heads[-3:] == ["luts", "registers", "block_ram"]
    areas = [["1,100", "500", "30"], ["900", "500", "36"], ["800", "500", "36"]]
    assert [row[-3:] for row in rows[:3]] == areas
    present = "2,870 cycles in instructions, 1,000 LUTs, 500 registers, 36 block RAM in Kb"
    assert trial_answer(made).facts["as it is"] == present
    assert rows[-1] == ["engines=2", "2,867", "-0.1%"]


def test_nothing_helps(record: Record) -> None:
    assert conclusion(trial(record)) == ["There is no change to try: no cause has cycles that a setting could save."]
    faster = trial(record, attempt({"engines": 1}, -0.1, 0.1, smaller=True))
    assert conclusion(faster)[0] == "Best: engines=1, 287 cycles fewer (-10.0%), with fewer kernels."
    assert conclusion(trial(record, attempt({"engines": 1}, 0.001, 0.0, smaller=True))) == [
        "No change makes the run faster by 0.5% or more.",
        "Smaller, and not slower: engines=1 (+0.1%).",
    ]


def test_record_of_another_version(record: Record) -> None:
    assert conclusion(trial(record, more=0.1))[0] == (
        "The record has 2,870 cycles, and the run takes 3,157: the record is that of another version of the program. "
        "Proposals are for the record, measured changes those of the run."
    )


def test_numbers_of_seconds() -> None:
    assert (checked_seconds("2.5"), checked_seconds(0)) == (2.5, 0.0)
    for wrong in ("soon", -1, True, float("nan"), None):
        with refused(ValueError, f"limit must be a number of seconds from 0 on, not {wrong!r}"):
            checked_seconds(wrong)


def test_an_interrupted_run_cannot_be_made_again(record: Record, tmp_path: Path) -> None:
    record.interrupted = 500
    with refused(InputError, f"{tmp_path / 'seen'}: is not the record of a complete run, which could be made again"):
        RecordedPoints(record, Plan(folder=tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()
