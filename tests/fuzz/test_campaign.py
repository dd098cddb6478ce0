"""The campaign itself: it continues where it stopped, survives its cases, reduces failures and repeats them."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cyscc.host.graph.formats import writer
from tests.fuzz import __main__ as command
from tests.fuzz.campaign import MOST_FAILURES, Campaign
from tests.fuzz.logs import Log, batches_in, failures_of
from tests.fuzz.parts import Finding, Part
from tests.fuzz.runs import RUNS, Run
from tests.fuzz.summaries import summary
from tests.fuzz.workers import Worker

BAD = {7: "odd", 9: "crash", 11: "error"}


def looked_at(case: int, folder: Path) -> Finding:
    """Log that a case was run."""
    if BAD.get(case) == "crash":
        os._exit(9)
    if BAD.get(case) == "error":
        raise ValueError("no such case")
    return Finding(BAD.get(case, "even"), case not in BAD, "a case" if case in BAD else "", {"digits": len(str(case))})


def no_simpler(case: int) -> Iterator[int]:
    return iter(())


def saved(case: int, folder: Path) -> None:
    (folder / "number").write_text(str(case))


NUMBERS = Part("numbers", 0.5, 60, int, lambda seed, index: index, looked_at, no_simpler, saved)


def test_an_interrupted_campaign_goes_on(tmp_path: Path) -> None:
    seen: list[str] = []

    def interrupt(seconds: float, what: str) -> None:
        seen.append(what)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Campaign([NUMBERS], tmp_path, 5, on_case=interrupt).run(60)
    # As if the process had been ended while it wrote a line.
    with (tmp_path / "seed-5.jsonl").open("a") as file:
        file.write('{"part":"numbers","first":3,"cou')
    campaign = Campaign([NUMBERS], tmp_path, 5, on_case=interrupt)
    campaign.run(60, most={"numbers": 6})
    assert seen == [f"numbers {n}, {n if n <= 3 else n - 3} cases" for n in range(1, 7)]
    batches = list(batches_in(tmp_path, 5))
    assert [batch.first + n for batch in batches for n in range(batch.count)] == list(range(6))
    assert campaign.failures == []
    row = summary([NUMBERS], batches, markdown=True).splitlines()[2]
    assert [cell.strip() for cell in row.split("|")][1:5] == ["numbers", "6 even", "6 digits", "6"]


def test_only_one_process_goes_on_with_a_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Log(tmp_path, 5):
        assert command.main(["--seed", "5", "--log", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "another process goes on with seed 5\n"


def test_failures_do_not_end_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, str]] = []
    campaign = Campaign(
        [NUMBERS], tmp_path, 5, on_failure=lambda failure, folder: told.append((failure.index, failure.kind))
    )
    campaign.run(60, most={"numbers": 14})
    assert told == [(7, "odd"), (9, "crash"), (11, "error")]
    assert [failure.what for failure in campaign.failures] == [
        "a case",
        "the process ended with 9",
        "ValueError: no such case (test_campaign.py:31)",
    ]
    assert campaign.failures[1].again == "python -m tests.fuzz --seed 5 --only numbers:9"
    assert (tmp_path / "seed-5-numbers-9" / "number").read_text() == "9"
    # What has been mended is no failure any more, and nothing is looked at twice.
    monkeypatch.delitem(BAD, 9)
    campaign = Campaign([NUMBERS], tmp_path, 5)
    campaign.run(60, most={"numbers": 15})
    batches = list(batches_in(tmp_path, 5))
    assert [failure.index for failure in failures_of(batches)] == [7, 11]
    assert [failure.index for failure in campaign.failures] == [7, 11]
    row = summary([NUMBERS], batches, markdown=True).splitlines()[2]
    assert [cell.strip() for cell in row.split("|")][4:8:2] == ["15", "2"]


def test_many_failures_end_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.test_campaign.BAD", dict.fromkeys(range(100), "odd"))
    campaign = Campaign([NUMBERS], tmp_path, 5)
    campaign.run(60)
    assert len(campaign.failures) == MOST_FAILURES


def test_a_case_without_end_is_given_up() -> None:
    def wait(case: int, folder: Path) -> Finding:
        time.sleep(0 if case else 600)
        return Finding("even", True)

    part = replace(NUMBERS, examine=wait)
    worker = Worker({part.name: part})
    found = [worker.examine(part, case, patience=patience).kind for case, patience in ((0, 0.1), (1, None))]
    worker.close()
    assert found == ["endless", "even"]


def test_shares_of_the_time(tmp_path: Path) -> None:
    def wait(case: int, folder: Path) -> Finding:
        time.sleep(0.05)
        return Finding("even", True)

    parts = [replace(NUMBERS, name=name, share=share, examine=wait) for name, share in (("a", 0.75), ("b", 0.25))]
    Campaign(parts, tmp_path, 5).run(0.3)
    # Another process goes on: the other part has its turn.
    Campaign(parts, tmp_path, 5).run(0.3)
    assert [batch.part for batch in batches_in(tmp_path, 5)] == ["a", "b"]


def small_run(seed: int, index: int) -> Run:
    """Draw a run that needs no machine of its own."""
    return replace(RUNS.draw(seed, index), machine={"preset": "test"}, ways=["threads"], source=None)


def test_a_planted_fault_is_found_made_small_and_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Components of more than two vertices are written wrongly."""
    write_pairs = writer.write_pairs

    def broken(file: Any, vertices: np.ndarray, names: np.ndarray) -> None:
        large = np.bincount(names).max() > 2
        write_pairs(file, vertices, vertices if large else names)

    part = replace(RUNS, draw=small_run)
    monkeypatch.setitem(command.PARTS, "runs", part)
    monkeypatch.setattr(writer, "write_pairs", broken)
    campaign = Campaign([part], tmp_path, 1)
    index = next(n for n in range(20) if not RUNS.examine(small_run(1, n), tmp_path).good)
    campaign.run(60, most={"runs": index + 1})
    (failure,) = campaign.failures
    assert (failure.index, failure.kind) == (index, "wrong")
    kept = tmp_path / f"seed-1-runs-{index}" / "case.json"
    case = json.loads(kept.read_text())["case"]
    assert (case["vertices"], len(case["edges"]), case["ways"], case["slack"]) == (3, 3, [], 2000)
    assert (case["machine"], case["memory"]) == ({"preset": "test"}, {"profile": "fixed:1"})
    repeats = [["--case", str(kept)], failure.again.split()[3:]]
    assert [command.main(line) for line in repeats] == [1, 1]
    assert capsys.readouterr().out.count("wrong: wrong and not noticed: '") == 2
    assert (kept.parent / "failure").read_text().splitlines()[1:] == [
        f"python -m tests.fuzz --case {kept}",
        failure.again,
    ]
    monkeypatch.undo()
    assert command.main(repeats[0]) == 0


def test_ways_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cyscc.host.runs.results import SccResult

    def broken(result: SccResult) -> dict[str, Any]:
        fields = found(result)
        result.statistics["memory"]["flushes"] += result.setting.spec.threads == 2
        return fields

    found = SccResult._found
    monkeypatch.setattr(SccResult, "_found", broken)
    run = replace(small_run(1, 0), vertices=2, edges=[(0, 1), (1, 0)], memory={"profile": "fixed:1"})
    finding = RUNS.examine(run, tmp_path)
    assert finding.kind == "different"
    assert finding.what.startswith("threads: statistics.memory.flushes is ")
