"""The table of facts of a page, and what runs are called in it, against their documents."""

import copy
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.analysis.report.page import Section, sections
from cyscc.host.record.reader import Record
from tests.host.analysis.report.pages import BFS, SCC, plain_of, record_of
from tests.record.synthetic import Shape


@pytest.fixture(autouse=True)
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing: other tests cover the charts."""

    def of_run(_: Record, number: int, name: str, *, columns: int) -> list[Section]:
        assert columns in (420, 210, 140)
        return [Section(name=f"run{number}", title="", run=name)]

    monkeypatch.setattr("cyscc.host.analysis.report.page._of_run", of_run)
    monkeypatch.setattr("cyscc.host.analysis.report.page.comparison_charts", lambda *_: [])


def changed(**changes: Any) -> Record:
    """Return a record whose options of the run are others."""
    record = copy.copy(record_of(BFS))
    record.document = copy.deepcopy(record.document)
    run = record.document["run"]
    run["options"] |= {name: value for name, value in changes.items() if name not in ("graph", "folder")}
    run["graph"] = changes.get("graph", run["graph"])
    record.folder = Path(changes.get("folder", record.folder))
    return record


def facts_of(*records: Record) -> dict[str, list[str]]:
    return dict(sections(list(records))[0].facts)


@pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
def test_facts(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    document: Any = plain.document
    result, cycles, run = document["result"], document["cycles"], document["run"]
    kernels = ", ".join(f"{count} {name}" for name, count in plain.machine["kernels"].items() if count)
    expected = {
        "record": str(record.folder),
        "graph": f"{run['graph']}: {run['vertices']:,} vertices, {run['edges']:,} edges",
        "machine": f"{shape.config}: {plain.engines} AEs, kernels of each: {kernels}",
        "memory": shape.memory,
        "simulated time": f"{result['seconds'] * 1e3:,.3f} ms at 150 MHz",
        "cycles of the run": f"{result['cycles']['total']:,}",
        "cycles simulated": (
            f"{cycles['total']:,}: instructions {cycles['instructions']:,}, host {cycles['host']:,}, "
            f"restarted {cycles['restarted']:,}, reading out {cycles['readout']:,}"
        ),
        "throughput": f"{result['gteps']:.3f} GTEPS ({result['edges_traversed']:,} edges traversed)",
        "verified": "yes" if result["verified"] else "not checked",
        "intervals": f"{shape.interval} cycles",
        "version": f"cyscc {document['version']}",
    }
    if shape.iterations:
        count = result["components"]["count"]
        expected["components"] = f"{count:,}, in {result['iterations']:,} iterations"
    found = facts_of(record)
    assert {name: texts for name, texts in found.items() if name != "command"} == {
        name: [text] for name, text in expected.items()
    }
    assert list(found)[:3] == ["record", "graph", "command"]


def test_the_command_has_the_options_that_decide() -> None:
    record = changed(source=5, simplify=True, queue_slack=7, cycle_limit=9000, threads=2, set={"word_depth": 64})
    words = facts_of(record)["command"][0].split()
    assert words[:2] == ["cyscc", "bfs"]
    assert words[words.index("--queue-slack") + 1] == "7"
    assert sorted(words[2:]) == sorted(["--source", "5", "--simplify", "--queue-slack", "7"])
    without = changed(source=0, simplify=False, queue_slack=None)
    assert facts_of(without)["command"] == ["cyscc bfs --source 0"]


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ([{}, {"config": "hc2"}], ["test", "hc2"]),
        ([{"memory": "fixed:75"}, {"config": "hc2"}], ["test, fixed:75", "hc2, hc2"]),
        ([{"graph": "a.gr"}, {"graph": "b.gr"}], ["a.gr", "b.gr"]),
        ([{"set": {"word_depth": 64}}, {}], ["test (word_depth=64)", "test"]),
        # What does not tell them apart is their folder, and where that is the same, their number.
        ([{"folder": "one"}, {"folder": "two"}], ["one", "two"]),
        ([{"config": "hc2"}, {"folder": "two"}, {"folder": "three"}], ["FOLDER", "two", "three"]),
        ([{}, {}], ["FOLDER (1)", "FOLDER (2)"]),
    ],
)
def test_runs_are_called_by_what_tells_them_apart(changes: list[dict[str, Any]], names: list[str]) -> None:
    folder = str(record_of(BFS).folder)
    facts, comparison, *_ = sections([changed(**each) for each in changes])
    assert facts.heads == [name.replace("FOLDER", folder) for name in names]
    assert comparison.name == "comparison"


def test_one_run_is_called_by_its_folder() -> None:
    record, done = record_of(BFS), list[int]()
    facts, verdict = sections([record], on_run=done.append)
    assert facts.heads == []
    assert (verdict.name, verdict.run) == ("run0", record.folder.name)
    assert done == [1]
    sections([record, record, record], on_run=done.append)
    assert done == [1, 1, 2, 3]
