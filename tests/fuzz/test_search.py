"""The search itself: it survives its cases, makes failing ones small, keeps and repeats them."""

import os
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from cyscc.host.graph.formats import writer
from cyscc.host.runs.results import SccResult
from tests.fuzz import __main__ as command
from tests.fuzz.runs import RUNS, Run
from tests.fuzz.search import Finding, Part, Worker, search
from tests.fuzz.shapes import draw_graph


def looked_at(case: int, folder: Path) -> Finding:
    """Judge a number; some end or block the process."""
    if case == 9:
        os._exit(9)
    if case == 10:
        time.sleep(600)
    if case == 11:
        raise ValueError("no such case")
    return Finding("even", case < 70, "a case", {"digits": len(str(case))})


NUMBERS = Part("numbers", 20, 60, lambda chance: chance.randrange(100), looked_at)


def small_run(chance: Random, *, new: object = None) -> Run:
    """Draw a small graph, for a run that needs no machine of its own."""
    vertices, edges = draw_graph(chance, most=8)
    run = replace(RUNS.draw(Random(1)), machine={"preset": "test"}, memory={"profile": "fixed:1"}, way="threads")
    return replace(run, vertices=vertices, edges=edges, source=None)


def test_a_worker_survives_its_cases() -> None:
    with Worker() as worker:
        found = [worker.examine(replace(NUMBERS, patience=0.2), case) for case in (3, 9, 10, 11, 4)]
    assert [finding.kind for finding in found] == ["even", "crash", "endless", "error", "even"]
    assert [finding.what.partition(" (")[0] for finding in found[1:4]] == [
        "the process ended with 9",
        "no end after 0 s",
        "ValueError: no such case",
    ]
    assert found[3].what.endswith(f"({Path(__file__).name}:{looked_at.__code__.co_firstlineno + 7})")


def test_cases_are_the_same_and_counted() -> None:
    counts = search(replace(NUMBERS, draw=lambda chance: chance.randrange(9)), 20)
    assert counts == search(replace(NUMBERS, draw=lambda chance: chance.randrange(9)), 20)
    assert set(counts) == {"even", "digits"}
    assert 0 < counts["even"] == counts["digits"] <= 20


def test_failures_are_made_small_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Components of more than two vertices are written wrongly, and numbers from 70 on fail."""
    write_pairs = writer.write_pairs

    def broken(file: Any, vertices: np.ndarray, names: np.ndarray) -> None:
        large = np.bincount(names).max() > 2
        write_pairs(file, vertices, vertices if large else names)

    line = ["--seed", "5", "--log", str(tmp_path), "--minutes"]
    monkeypatch.setattr(
        command, "PARTS", {"runs": replace(RUNS, draw=small_run, turn=30), "numbers": replace(NUMBERS, turn=200)}
    )
    monkeypatch.setattr(writer, "write_pairs", broken)
    assert command.main([*line, "1e9"]) == 1
    found = capsys.readouterr().out
    assert "runs: wrong: wrong and not noticed: '" in found
    assert "numbers: even: a case\n" in found
    # As small as they can be; no new case is looked at the next time, when those that are kept fail.
    assert found.count("vertices=3") == found.count("case=70") == 1
    assert command.main([*line, "0"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == found.splitlines()[1:]
    monkeypatch.setattr(writer, "write_pairs", write_pairs)
    assert command.main([*line, "0", "--part", "runs"]) == 0


def test_an_interrupt_ends_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "search", interrupt)
    assert command.main(["--log", str(tmp_path), "--part", "inputs"]) == 130
    assert capsys.readouterr().out.splitlines()[-1] == "inputs: none"


def test_ways_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(result: SccResult) -> dict[str, Any]:
        fields = found(result)
        result.statistics["memory"]["flushes"] += result.setting.spec.threads == 2
        return fields

    found = SccResult._found
    monkeypatch.setattr(SccResult, "_found", broken)
    run = replace(small_run(Random(1)), vertices=2, edges=[(0, 1), (1, 0)])
    finding = RUNS.examine(run, tmp_path)
    assert finding.kind == "different"
    assert finding.what.startswith("threads: statistics.memory.flushes is ")
