"""`cyscc explain --try` on the small machine: proposals and own changes, found again, refused; the same in Python."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import cyscc
from cyscc.host.analysis.explain.proposals import Proposal
from cyscc.host.command_line.main import main
from cyscc.host.graph.kinds import generate_graph
from tests.refusals import refused

OWN = ("--try", "memory.bank_busy=5", "memory.reads_in_flight=64", "--try", "simplify=true", "--try", "memory=fixed:75")
"""Changes for which no machine is built."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the record of a search, whose tests share the runs that they make."""
    folder = tmp_path_factory.mktemp("tried")
    graph = generate_graph("rmat", vertices=32, degree=6, seed=1)
    cyscc.write_graph(graph, folder / "g.gr")
    cyscc.bfs(folder / "g.gr", 1, config="test", record=folder / "seen")
    return folder


@pytest.fixture(autouse=True)
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the folder with the record, with real machines."""
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "100")
    return made


def tried(*words: str) -> dict[str, Any]:
    """Try changes in this process, and return the JSON."""
    assert main(["explain", "seen", *words, "-o", "runs", "--jobs", "1", "--json", "json", "--quiet"]) == 0
    return dict(json.loads(Path("json").read_text()))


def cycles_of(*words: str) -> int:
    """Return the cycles of the search alone, with other options."""
    assert main(["bfs", "g.gr", "--source", "1", "--config", "test", *words, "--json", "alone", "--quiet"]) == 0
    return int(json.loads(Path("alone").read_text())["cycles"]["total"])


def test_own_changes_are_measured() -> None:
    document = tried(*OWN)
    recorded = cycles_of()
    baseline, (memory, simple, fixed) = document["as_it_was"], document["changes"]
    assert (baseline["settings"], baseline["cycles"], baseline["change"]) == ({}, recorded, 0)
    assert memory["settings"] == {"memory.bank_busy": 5, "memory.reads_in_flight": 64}
    assert memory["cycles"] == cycles_of("--set", "memory.bank_busy=5", "--set", "memory.reads_in_flight=64")
    assert simple["cycles"] == cycles_of("--simplify")
    assert fixed["cycles"] == cycles_of("--memory", "fixed:75")
    for row in (memory, simple, fixed):
        assert row["change"] == pytest.approx(row["cycles"] / recorded - 1)
        assert (row["proposed"], row["at_most"], row["failure"]) == (False, None, "")
        assert cyscc.Record(Path("runs", "results", row["point"])).result["cycles"]["total"] == row["cycles"]
    assert document["best"] == min(document["changes"], key=lambda row: row["cycles"])["settings"]


def proposed(*changes: dict[str, Any]) -> list[Proposal]:
    """Return proposals of changes."""
    return [Proposal(changes=each, cause="response", most=0.5, promise=0.1, reason="So.") for each in changes]


def test_proposals_are_measured_once(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    every = proposed({"memory.bank_busy": 7}, {"memory.bank_busy": 60}, {"memory.request_travel": 15})
    monkeypatch.setattr("cyscc.host.interface.trials.proposals", lambda _: every)
    own = ("--try", "memory.bank_busy=5", "memory.reads_in_flight=64")
    document = tried("--try", *own, "--limit", "600")
    first, quicker, slower, travel = document["changes"]
    assert not first["proposed"]
    assert [row["settings"] for row in (quicker, slower, travel)] == [each.changes for each in every]
    assert (quicker["at_most"], quicker["cause"], quicker["reason"]) == (0.5, "response", "So.")
    # What takes more cycles than the best one so far is stopped, and made no point.
    assert (slower["stopped"], slower["cycles"], slower["failure"]) == (True, None, "")
    assert not Path("runs", "results", slower["point"]).exists()
    assert document["left"] == 0
    kept = cyscc.Record(Path("runs", "results", quicker["point"])).document["run"]["options"]
    assert kept["cycle_limit"] is None
    (best,) = (row for row in document["changes"] if row["settings"] == document["best"])
    assert any(line.startswith("Why: ") for line in document["conclusion"])
    assert best["cycles"] == min(row["cycles"] for row in document["changes"] if row["cycles"])
    assert main(["explain", "seen", "--try", "-o", "runs"]) == 0
    out, err = capfd.readouterr()
    assert "cyscc: memory.bank_busy=60: at most -50.0%, stopped\n" in err
    assert re.search(rf"^as it is +{document['as_it_was']['cycles']:,} cycles in instructions$", out, re.MULTILINE)
    assert re.search(r"^  memory.bank_busy=60 +-50.0% +stopped$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 100


def test_the_first_proposal_is_tried_in_any_case(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = proposed(*({"memory.bank_busy": busy} for busy in (8, 9, 10, 11, 12)))
    monkeypatch.setattr("cyscc.host.interface.trials.proposals", lambda _: every)
    found = cyscc.what_if(made / "seen", folder="few", limit=0)
    assert found.changes["text"].tolist() == ["memory.bank_busy=8"]
    assert "Not tried: 4 proposals, as the time was over; --limit gives more." in found.conclusion


def test_python(made: Path) -> None:
    document = tried(*OWN)
    changes = [row["settings"] for row in document["changes"]]
    found = cyscc.what_if(made / "seen", *changes, folder="runs")
    assert found.cycles == document["as_it_was"]["cycles"]
    assert found.changes["cycles"].tolist() == [row["cycles"] for row in document["changes"]]
    assert found.changes["text"][1] == "simplify=true"
    assert found.best == document["best"]
    assert found.conclusion == document["conclusion"]
    assert found.conclusion[0] in " ".join(str(found).split())
    assert "4 runs: 0 made, 4 from before" in str(found)


def test_graph_that_is_in_no_file(made: Path) -> None:
    graph = cyscc.read_graph("g.gr")
    search = cyscc.bfs(graph, 1, config="test", record="object")
    assert search.record is not None
    found = cyscc.what_if(search, {"memory.bank_busy": 5}, folder="runs")
    assert found.cycles == search.cycles
    with refused(cyscc.InputError, f"{made / 'graph'}: does not exist"):
        cyscc.what_if(search.record, {"memory.bank_busy": 5}, folder="runs")


def test_a_change_that_fails(capfd: pytest.CaptureFixture[str]) -> None:
    limit = str(cyscc.Record("seen").cycles + 50)
    cycles_of("--cycle-limit", limit, "--record", "limited")
    words = ("--try", "memory.bank_busy=60", "--try", "memory.bank_busy=15", "-o", "runs", "--jobs", "1")
    assert main(["explain", "limited", *words]) == 3
    out, err = capfd.readouterr()
    reason = f"cycle limit of {int(limit):,} reached"
    assert err.endswith(f"cyscc explain: 1 of 2 changes failed: memory.bank_busy=60: {reason}\n")
    assert re.search(r"^  memory.bank_busy=60 +failed$", out, re.MULTILINE)
    assert f"Failed: memory.bank_busy=60 ({reason}).\n" in out
