"""Trials: conclusion and table, for cycles and areas that are made up."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.analysis.explain.proposals import Proposal
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.measuring.runs import PointRequest
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.sweep.recorded import RecordedPoints
from cyscc.host.experiments.trial import trial as trials
from cyscc.host.experiments.trial.trial import Attempt, Trial, attempt_line, checked_seconds, trial_answer
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.specification.run import RunSpec
from tests.host.experiments.told import answer_path, told
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


TRIALS: dict[str, tuple[list[Attempt], dict[str, Any]]] = {
    "best, slower, stopped and failed": (
        [
            attempt({"word_depth": 64}, -0.02),
            attempt({"link_cycles": 0}, 0.012),
            attempt({"memory.banks": 256, "memory.links": 4}, -0.05, 0.2),
            attempt({"visit_depth": 128}, None, 0.3, stopped=True),
            attempt({"ring_stages": 0}, None, 0.1),
        ],
        {"left": 2},
    ),
    "areas": (
        [
            attempt({"word_depth": 64}, -0.02, area=(1_100, 30)),
            attempt({"visit_depth": 32}, 0.003, area=(900, 36)),
            attempt({"frontier_depth": 32}, 0.2, area=(800, 36)),
            attempt({"memory.banks": 256}, -0.01, area=(1_000, 36)),
            attempt({"engines": 2}, -0.001),
        ],
        {"area": (1_000, 36)},
    ),
    "nothing to try": ([], {}),
    "fewer kernels": ([attempt({"engines": 1}, -0.1, 0.1, smaller=True)], {}),
    "nothing helps": ([attempt({"engines": 1}, 0.001, 0.0, smaller=True)], {}),
    "another version": ([], {"more": 0.1}),
}
"""Attempts; and proposals left, the area of the run as it was, its cycles more than those of the record."""


@pytest.mark.parametrize("name", TRIALS)
def test_answers(name: str, record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The attempts have no records.
    monkeypatch.setattr(trials, "compare", lambda *_: None)
    monkeypatch.setattr(trials, "causes_of", lambda _: ["The causes are these."])
    monkeypatch.setattr(PointRequest, "record", lambda *_: None)
    monkeypatch.setattr(PointRequest, "digest", "DIGEST")
    attempts, how = TRIALS[name]
    plan = Plan(folder=tmp_path / "runs")
    plan.made, plan.found = 1, len(attempts)
    runs = [attempt({}, how.get("more", 0), area=how.get("area")), *attempts]
    made = Trial(record=record, plan=plan, runs=runs, left=how.get("left", 0), weighed="area" in how)
    lines = [told(trial_answer(made)).replace(str(tmp_path), ""), *map(attempt_line, attempts)]
    assert "\n".join(lines) == answer_path(__file__, name).read_text()


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
