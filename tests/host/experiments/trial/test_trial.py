"""Trials: judged predictions, conclusion and table, for cycles and areas that are made up."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.analysis.explain.proposals import Proposal
from cyscc.host.analysis.explain.terminal import as_text
from cyscc.host.experiments.measuring.graphs import GraphSpec
from cyscc.host.experiments.sweep.batch import Batch
from cyscc.host.experiments.sweep.points import SweepFolder, SweepPoint
from cyscc.host.experiments.trial.page import conclusion, trial_page
from cyscc.host.experiments.trial.trial import Attempt, Outcome, Trial, try_changes
from cyscc.host.output.errors import InputError
from cyscc.host.record.reader import Record
from cyscc.host.specification.run import RunSpec
from tests.record.synthetic import Shape, write_record
from tests.refusals import refused

CYCLES = 2_870
"""Cycles of the record in instructions."""

POINT = SweepPoint(
    graph=GraphSpec(kind="random", degree=2, vertices=8, seed=0),
    spec=RunSpec(algorithm="bfs", graph="g", config="test", record="r"),
)


def attempt(
    settings: Mapping[str, Any],
    change: float | None = 0.0,
    predicted: float | None = None,
    area: tuple[int, int] | None = None,
    *,
    smaller: bool = False,
) -> Attempt:
    """Return an attempt on the record's run; without a change it has failed."""
    foretold = None
    if predicted is not None:
        cycles = round(CYCLES * (1 + predicted))
        foretold = Proposal(changes=settings, cause="credit", cycles=cycles, reason="So.", smaller=smaller)
    return Attempt(
        settings=settings,
        proposal=foretold,
        point=POINT,
        cycles=None if change is None else round(CYCLES * (1 + change)),
        change=change,
        predicted=predicted,
        failure="cycle limit of 50 reached" if change is None else "",
        area={} if area is None else {"luts": area[0], "registers": 500, "block_ram": area[1]},
    )


@pytest.fixture
def record(tmp_path: Path) -> Record:
    write_record(tmp_path / "seen", Shape())
    return Record(tmp_path / "seen")


def trial(record: Record, *attempts: Attempt, area: tuple[int, int] | None = None, more: float = 0) -> Trial:
    folder = SweepFolder(record.folder.parent / "runs")
    baseline = attempt({}, more, area=area)
    return Trial(record=record, folder=folder, baseline=baseline, attempts=attempts, made=1, found=len(attempts))


def table(made: Trial) -> list[list[str]]:
    """Return the words of the rows of a trial's table, its head first."""
    text = as_text(trial_page(made), width=100)
    return [row.split() for row in text.split("\nchanges, cycles in instructions\n")[1].split("\n\n")[0].splitlines()]


@pytest.mark.parametrize(
    ("predicted", "measured", "outcome"),
    [
        (-0.10, -0.06, Outcome.RIGHT),
        (-0.10, -0.04, Outcome.LARGE),
        (-0.04, -0.10, Outcome.SMALL),
        (-0.04, 0.01, Outcome.WRONG),
        (0.004, -0.004, Outcome.RIGHT),
        (None, -0.1, None),
        (-0.1, None, None),
    ],
)
def test_predictions_are_judged(predicted: float | None, measured: float | None, outcome: Outcome | None) -> None:
    assert attempt({"word_depth": 64}, measured, predicted).outcome is outcome


def test_best_slower_failed_and_wrong(record: Record) -> None:
    made = trial(
        record,
        attempt({"word_depth": 64}, -0.02, -0.02),
        attempt({"memory.banks": 256, "memory.links": 4}, -0.05, -0.2),
        attempt({"visit_depth": 128}, 0.012, -0.03),
        attempt({"link_cycles": 0}, 0.004),
        attempt({"ring_stages": 0}, None, -0.1),
    )
    assert made.best is made.attempts[1]
    assert conclusion(made) == [
        "Best: memory.banks=256, memory.links=4, 144 cycles fewer (-5.0%), with the same FPGAs.",
        "Slower: visit_depth=128 (+1.2%).",
        "1 of 3 predictions is right: the sign, and the size within a factor of two.",
        "Not right: memory.banks=256, memory.links=4 (too large); visit_depth=128 (wrong sign).",
        "Failed: ring_stages=0 (cycle limit of 50 reached).",
    ]
    heads, _, _, _, slower, _, failed = table(made)
    assert heads == ["change", "predicted", "is", "measured"]
    assert slower == ["visit_depth=128", "2,784", "-3.0%", "wrong", "sign", "2,904", "+1.2%"]
    assert failed == ["ring_stages=0", "2,583", "-10.0%", "failed"]


def test_cost_in_area(record: Record) -> None:
    made = trial(
        record,
        attempt({"word_depth": 64}, -0.02, area=(1_100, 30)),
        attempt({"visit_depth": 32}, 0.003, area=(900, 36)),
        attempt({"frontier_depth": 32}, 0.2, area=(800, 36)),
        attempt({"engines": 2}, -0.001, area=(1_000, 36)),
        area=(1_000, 36),
    )
    assert conclusion(made) == [
        "Best: word_depth=64, 57 cycles fewer (-2.0%), for +100 LUTs, -6 block RAM in Kb.",
        "Slower: frontier_depth=32 (+20.0%).",
        "Smaller, and not slower: visit_depth=32 (+0.3%, -100 LUTs).",
    ]
    assert [row[-3:] for row in table(made)] == [
        ["luts", "registers", "block_ram"],
        ["1,000", "500", "36"],
        ["+100", "=", "-6"],
        ["-100", "=", "="],
        ["-200", "=", "="],
        ["=", "=", "="],
    ]


def test_nothing_helps(record: Record) -> None:
    assert conclusion(trial(record)) == [
        "There is no change to try: no setting is predicted to make the run faster.",
    ]
    assert conclusion(trial(record, attempt({"engines": 1}, -0.1)))[0].endswith("cycles fewer (-10.0%).")
    faster = trial(record, attempt({"engines": 1}, -0.1, -0.1, smaller=True))
    assert conclusion(faster)[0] == "Best: engines=1, 287 cycles fewer (-10.0%), with fewer kernels."
    assert conclusion(trial(record, attempt({"engines": 1}, 0.001, 0.0, smaller=True))) == [
        "No change makes the run faster by 0.5% or more.",
        "Smaller, and not slower: engines=1 (+0.1%).",
        "The prediction is right: the sign, and the size within a factor of two.",
    ]


def test_record_of_another_version(record: Record) -> None:
    assert conclusion(trial(record, more=0.1))[0] == (
        "The record has 2,870 cycles, and the run takes 3,157: the record is that of another version of the program. "
        "Predictions are for the record, measured changes those of the run."
    )


def test_an_interrupted_run_cannot_be_made_again(record: Record, tmp_path: Path) -> None:
    record.interrupted = 500
    with refused(InputError, f"{tmp_path / 'seen'}: is not the record of a complete run, which could be made again"):
        try_changes(record, [], Batch(folder=tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()
