"""What notebooks show of a record, against its document."""

import copy
import re
from pathlib import Path

import pytest

from cyscc.host.record.display import stack_html
from cyscc.host.record.reader import Record
from cyscc.sim.observation.causes import cause_named
from tests.host.analysis.report.pages import BFS, SCC, record_of
from tests.record.synthetic import Shape


@pytest.mark.parametrize(("shape", "modules"), [(BFS, ["bfs"]), (SCC, ["bfs", "intersection"])], ids=["bfs", "scc"])
def test_the_stack_has_the_cycles_of_every_cause(shape: Shape, modules: list[str]) -> None:
    record = record_of(shape)
    shown = record._repr_html_()
    assert re.findall(r"<text [^>]*>([^<]*)</text>", shown) == modules
    bars = re.findall(r'<rect x="([^"]+)" y="(\d+)" width="([^"]+)"[^>]*><title>([^<]*): [^<]* ([\d,]+) kernel', shown)
    for place, module in enumerate(modules):
        own = {
            title: (float(width), int(cycles.replace(",", "")))
            for _, y, width, title, cycles in bars
            if int(y) == 26 * place
        }
        causes = record.document["causes"][module]
        assert {title: cycles for title, (_, cycles) in own.items()} == {
            cause_named(cause).title: cycles for cause, cycles in causes.items() if cycles
        }
        for width, cycles in own.values():
            assert width == pytest.approx(630 * cycles / sum(causes.values()), abs=0.06)
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
    assert stack_html(record.document) == ""
    assert "the run was interrupted, and its record ends at cycle 1,000" in record._repr_html_()
