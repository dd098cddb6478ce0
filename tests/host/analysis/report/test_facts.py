"""The table of facts of a page, and what runs are called in it, against their documents."""

import copy
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.analysis.report.page import Section, page, sections
from cyscc.host.output.files import version
from cyscc.host.record.reader import Record
from tests.host.analysis.report.pages import BFS, SCC, record_of
from tests.host.conftest import Answers


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


def all_options() -> Record:
    record = changed(source=5, simplify=True, queue_slack=7, cycle_limit=9000, threads=2, graph="a graph.gr")
    record.document["run"]["options"] |= {"set": {"word_depth": 64, "memory.links": 1}, "record": "seen"}
    record.document["result"]["verified"] = None
    return record


def with_machine(configuration: dict[str, Any], parameters: dict[str, Any], **options: Any) -> Record:
    """Return the record of a run on another machine and memory than the options name."""
    record = changed(threads=None, **options)
    record.document["configuration"] |= configuration
    record.document["memory_profile"] |= parameters
    return record


def memory_of_a_program() -> Record:
    record = changed(memory="fixed")
    record.document["memory_profile"] = {"profile": "fixed", "latency": 75, "source": "0" * 64}
    return record


def with_environment() -> Record:
    record = changed()
    about = {"python": "3.11.7", "date": "2026-01-02T03:04:05+00:00", "processor": "Abacus", "system": "Linux"}
    record.document["environment"] = about
    # The text is a stranger's: nothing has checked it.
    record.document["result"]["wall"] = {"load": 1.25, "simulate": "<b>", "peak_memory_bytes": 2_000_000}
    return record


PAGES: dict[str, Callable[[], list[Record]]] = {
    "a search": lambda: [record_of(BFS)],
    "components": lambda: [record_of(SCC)],
    "every option": lambda: [all_options()],
    "no option": lambda: [changed(source=0, threads=None)],
    "another machine and memory": lambda: [with_machine({"word_depth": 16}, {"bank_busy": 60})],
    # Only the file has a name that an option takes.
    "a machine of a file": lambda: [with_machine({"visit_depth": 8}, {}, config="mine.toml")],
    "a machine without a name": lambda: [with_machine({"visit_depth": 8}, {}, config="own")],
    "a memory of a program": lambda: [memory_of_a_program()],
    "a memory of a file": lambda: [with_machine({}, {"profile": "mine"}, memory="rules.py")],
    "environment and wall time": lambda: [with_environment()],
    "two runs": lambda: [changed(), with_machine({"word_depth": 16}, {}, folder="two", config="hc2", source=3)],
}


def test_facts_are_as_pinned(answers: Answers) -> None:
    told = []
    for name, records in PAGES.items():
        told += [name, *(f"  {fact}: {texts}" for fact, texts in facts_of(*records()).items())]
    text = "\n".join([*told, ""]).replace(f"cyscc {version()}", "cyscc VERSION")
    for shape, name in ((BFS, "BFS"), (SCC, "SCC")):
        text = text.replace(str(record_of(shape).folder), name)
    answers("facts", text)


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
