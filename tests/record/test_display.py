"""What notebooks show of a record, against its document."""

import copy
from pathlib import Path

import pytest

from cyscc.host.record.reader import Record
from cyscc.sim.observation.causes import cause_named
from tests.host.analysis.report.pages import BFS, SCC, record_of
from tests.record.synthetic import Shape


@pytest.mark.parametrize("shape", [BFS, SCC], ids=["bfs", "scc"])
def test_the_stack_has_the_cycles_of_every_cause(shape: Shape) -> None:
    record = record_of(shape)
    answer = record.answer()
    causes = record.document["causes"]
    for row in answer.causes.to_dict("records"):
        assert {name: row[name] for name in causes[row["module"]]} == causes[row["module"]]
    shown = record._repr_html_()
    for title in (cause_named(name).title for name, cycles in causes["bfs"].items() if cycles > 0.01 * record.cycles):
        assert title in shown
    assert f"{record.result['cycles']['total']:,}" in shown


def test_what_a_record_names_is_text() -> None:
    record = copy.copy(record_of(BFS))
    record.document = copy.deepcopy(record.document)
    record.document["run"]["graph"] = "<b>&\n"
    record.folder = Path("<i>")
    shown = record._repr_html_()
    assert "<b>bfs of &lt;b&gt;&amp;\\n from 1 on test, memory hc2</b>" in shown
    assert "<i>" not in shown


def test_a_run_that_did_not_end_has_no_stack() -> None:
    record: Record = copy.copy(record_of(BFS))
    record.interrupted = 1000
    record.document = {name: value for name, value in record.document.items() if name not in ("causes", "result")}
    assert record.answer().causes.empty
    assert "the run was interrupted, and its record ends at cycle 1,000" in record._repr_html_()
