"""The table of facts of a page, and what runs are called in it, against their documents."""

import copy
import html
import re
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.analysis.report.page import Section, page, sections
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
    return dict(next(section.facts for section in sections(list(records)) if section.name == "facts"))


@pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
def test_facts(shape: Shape) -> None:
    record, plain = record_of(shape), plain_of(shape)
    document: Any = plain.document
    result, cycles, run = document["result"], document["cycles"], document["run"]
    kernels = ", ".join(f"{count} {name}" for name, count in plain.machine["kernels"].items() if count)
    given_up = f"{cycles['restarted']:,} of attempts given up, " if cycles["restarted"] else ""
    expected = {
        "record": str(record.folder),
        "in folder": "/somewhere",
        "graph": f"{run['graph']}: {run['vertices']:,} vertices, {run['edges']:,} edges",
        "digest of the graph": f"SHA-256 {'0' * 16}",
        "machine": f"{shape.config}: {plain.engines} AEs, kernels of each: {kernels}, 150 MHz",
        "preset": f"{shape.config}, unchanged",
        "memory": shape.memory,
        "profile": f"{shape.memory}, unchanged",
        "simulated time": f"{result['seconds'] * 1e3:,.3f} ms at 150 MHz",
        "cycles of the run": f"{result['cycles']['total']:,}",
        "cycles simulated": (
            f"{cycles['total']:,}: {cycles['instructions']:,} in instructions, {cycles['host']:,} of the host between "
            f"them, {given_up}{cycles['readout']:,} to read the result"
        ),
        "throughput": f"{result['gteps']:.3f} GTEPS ({result['edges_traversed']:,} edges traversed)",
        "verified": "yes" if result["verified"] else "not checked",
        "intervals": f"{shape.interval} cycles",
        "version": f"cyscc {document['version']}, program {'0' * 16}",
        "simulated by": "executor compiled, 1 thread",
    }
    if shape.iterations:
        count = result["components"]["count"]
        expected["components"] = f"{count:,}, in {result['iterations']:,} iterations"
    found = facts_of(record)
    assert {name: texts for name, texts in found.items() if name != "command"} == {
        name: [text] for name, text in expected.items()
    }
    assert list(found)[:4] == ["record", "command", "in folder", "graph"]


def test_the_command_has_every_option_of_the_run() -> None:
    record = changed(source=5, simplify=True, queue_slack=7, cycle_limit=9000, threads=2, graph="a graph.gr")
    record.document["run"]["options"] |= {"set": {"word_depth": 64, "memory.links": 1}, "record": "seen"}
    record.document["result"]["verified"] = None
    assert facts_of(record)["command"] == [
        "cyscc bfs 'a graph.gr' --source 5 --config test --memory hc2 --simplify --cycle-limit 9000 --queue-slack 7 "
        "--record seen --set word_depth=64 --set memory.links=1 --threads 2 --no-verify"
    ]
    without = changed(source=0, threads=None)
    assert facts_of(without)["command"] == ["cyscc bfs synthetic.gr --source 0 --config test --memory hc2"]


def with_machine(configuration: dict[str, Any], parameters: dict[str, Any], **options: Any) -> dict[str, list[str]]:
    """Return the facts about a run on another machine and memory than the options name."""
    record = changed(threads=None, **options)
    record.document["configuration"] |= configuration
    record.document["memory_profile"] |= parameters
    return facts_of(record)


def test_machine_and_memory_are_compared_with_preset_and_profile() -> None:
    found = with_machine({"word_depth": 16}, {"bank_busy": 60})
    assert found["preset"] == ["test with word_depth = 16 (preset: 8)"]
    assert found["profile"] == ["hc2 with bank_busy = 60 (profile: 15)"]
    assert found["command"][0].endswith("--set word_depth=16 --set memory.bank_busy=60")


@pytest.mark.parametrize("config", ["mine.toml", "own"])
def test_a_machine_without_a_name_is_compared_with_the_most_similar_preset(config: str) -> None:
    found = with_machine({"visit_depth": 8}, {}, config=config)
    assert found["machine"][0].startswith(f"{config}: 2 AEs")
    assert found["preset"] == ["test with visit_depth = 8 (preset: 4)"]
    # Only the file has a name that an option takes.
    assert ("--config mine.toml" in found["command"][0]) == (config == "mine.toml")
    assert ("--config test --memory hc2 --set visit_depth=8" in found["command"][0]) == (config == "own")


def test_memory_of_a_program_or_a_file() -> None:
    latency = {"profile": "fixed", "latency": 75}
    record = changed(memory="fixed")
    record.document["memory_profile"] = {**latency, "source": "0" * 64}
    assert [facts_of(record)[name] for name in ("memory", "profile")] == [["fixed:75"], ["fixed:75, unchanged"]]
    own = with_machine({}, {"profile": "mine"}, memory="rules.py")
    assert own["profile"][0].startswith("mine: request_travel = 30, bank_busy = 15")


def test_environment_and_wall_time() -> None:
    record = changed()
    about = {"python": "3.11.7", "date": "2026-01-02T03:04:05+00:00", "processor": "Abacus", "system": "Linux"}
    record.document["environment"] = about
    # The text is a stranger's: nothing has checked it.
    record.document["result"]["wall"] = {"load": 1.25, "simulate": "<b>", "peak_memory_bytes": 2_000_000}
    found = facts_of(record)
    assert found["version"][0].endswith(", Python 3.11.7")
    assert found["wall time"] == ["load 1.2 s, 2.0 MB of memory"]
    assert (found["date"], found["computer"]) == ([about["date"]], ["Abacus, Linux"])


def test_equal_facts_stand_once_and_settings_that_differ_side_by_side() -> None:
    other = changed(folder="two", config="hc2", source=3)
    other.document["configuration"]["word_depth"] = 16
    found = facts_of(changed(), other)
    assert found["graph"] == ["synthetic.gr: 5,000 vertices, 40,000 edges"]
    assert (found["source"], found["word_depth"]) == (["1", "3"], ["8", "16"])
    assert len(found["machine"]) == 2
    assert list(found).index("profile") < list(found).index("word_depth") < list(found).index("simulated time")


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        # As in sentences on them, whatever else tells them apart; where that is the same, by their number.
        ([{"folder": "one"}, {"folder": "two"}], ["one", "two"]),
        ([{"config": "hc2"}, {"folder": "two"}, {"folder": "three"}], ["FOLDER", "two", "three"]),
        ([{}, {}], ["FOLDER (1)", "FOLDER (2)"]),
    ],
)
def test_runs_are_called_by_their_folders(changes: list[dict[str, Any]], names: list[str]) -> None:
    folder = str(record_of(BFS).folder)
    comparison, facts, *_ = sections([changed(**each) for each in changes])
    assert facts.heads == [name.replace("FOLDER", folder) for name in names]
    assert comparison.name == "comparison"


def test_one_run_is_called_by_its_folder() -> None:
    record, done = record_of(BFS), list[int]()
    verdict, facts = sections([record], on_run=done.append)
    assert facts.heads == []
    assert (verdict.name, verdict.run) == ("run0", record.folder.name)
    assert done == [1]
    sections([record, record, record], on_run=done.append)
    assert done == [1, 1, 2, 3]


def test_the_page_says_what_it_is_about() -> None:
    def about(*records: Record) -> str:
        found = re.search(r"<header>.*?<p>(.*?)</p>", page(list(records)), re.DOTALL)
        assert found is not None
        return found[1]

    cycles = f"{record_of(BFS).cycles:,}"
    run = f"bfs of synthetic.gr from 1 on test, memory hc2: where its {cycles} cycles went, and why."
    assert about(record_of(BFS)) == run
    rest = ", each compared with the first: where their cycles went, and why."
    assert about(changed(), changed(config="hc2")) == f"2 runs of bfs of synthetic.gr from 1{rest}"
    assert about(changed(), changed(source=2), changed(graph="b.gr")) == f"3 runs of bfs{rest}"
    assert about(record_of(BFS), record_of(SCC)) == f"2 runs{rest}"


def test_a_command_is_copied_as_it_is_and_broken_between_words() -> None:
    shown = page([changed(graph="a <b>.gr", threads=None)])
    (command,) = re.findall(r"<code>(<span.*?)</code>", shown)
    assert html.unescape(re.sub("<[^>]+>", "", command)) == "cyscc bfs 'a <b>.gr' --source 1 --config test --memory hc2"
