"""Answers: every form that they are shown in has the same facts, tables and sentences."""

import json
from copy import copy
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from cyscc.host.answer.answer import STACK_FORM, Answer, Chart, Column, Table
from tests.host.conftest import Answers
from tests.refusals import refused

FRAME = pd.DataFrame(
    {
        "level": [0, 1, 2],
        "cycles": [1000, 20, None],
        "why": ["a|b", "<b>", None],
        "share": [0.5, float("inf"), float("nan")],
        "nothing": [None, None, None],
        "credit": [3.0, 1.0, 0.0],
        "no_work": [1.0, 0.0, 0.0],
    }
)
SHOWN: dict[str, Column | str] = {
    "level": "{}",
    "cycles": "{:,.0f}",
    "share": Column("of all", "{:.1%}"),
    "stack": Column(form=STACK_FORM),
    "why": "{}",
    "nothing": "{}",
    "absent": "{}",
}


def answer(most: int | None = 12, **more: object) -> Answer:
    table = Table(title="levels", frame=FRAME, columns=SHOWN, most=most, note="in cycles")
    hidden = Table(title="whole", frame=lambda: FRAME, columns=SHOWN, shown=False)
    return Answer(
        title="a *run*",
        facts={"graph": "g<1>"},
        said=["It waits.\n  A place is short.", "Done."],
        tables={"levels": table, "whole": hidden},
        fields={"cycles": 1020},
        **more,  # type: ignore[arg-type]  # failure and charts
    )


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_texts_are_as_pinned(form: str, answers: Answers) -> None:
    """Markdown begins with a heading, and what stands in the texts marks nothing up."""
    answers(form, answer(most=2).text(width=60) if form == "text" else answer().markdown())


def test_frames_and_fields_by_name() -> None:
    found = answer()
    assert found.frame("levels") is FRAME is found.levels
    assert found.whole is FRAME
    assert found.cycles == 1020
    assert {"levels", "whole", "cycles"} < set(dir(found))
    with refused(ValueError, "the answer has no table 'cycles': there are levels, whole"):
        found.frame("cycles")
    with refused(AttributeError, "'Answer' object has no attribute 'level'"):
        _ = found.level
    assert copy(found).cycles == 1020
    assert repr(found) == "<Answer: a *run*>"


def test_document_is_plain() -> None:
    document = answer().document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert {"schema", "version"} < set(document)
    assert [row["share"] for row in document["levels"]] == [0.5, None, None]
    assert document["whole"] == document["levels"]
    assert document["cycles"] == 1020


class _Texts(HTMLParser):
    """Collects what a page shows, and the elements that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "path", "use"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts += data.split("\n")


@pytest.mark.parametrize("form", ["page", "_repr_html_"])
def test_html(form: str) -> None:
    parsed = _Texts()
    parsed.feed(getattr(answer(), form)())
    assert parsed.open == []
    assert {"g<1>", "1,000", "50.0%", "a|b", "<b>", "in cycles", "It waits.", "  A place is short."} <= set(
        parsed.texts
    )
    assert "script" not in parsed.texts


def test_charts(tmp_path: Path) -> None:
    from cyscc.host.answer.charts import new_figure

    drawn = answer(charts={"size": Chart(title="how large", draw=lambda: new_figure(height=300))})
    drawn.plot(str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert "<svg" in drawn.page()
    assert "how large" in drawn.page()
    with refused(ValueError, "the answer has no chart 'x': there are size"):
        drawn.plot(str(tmp_path / "b.svg"), "x")
    with refused(ValueError, "the answer has no chart None: there are none"):
        answer().plot(str(tmp_path / "b.svg"))


def test_whole_numbers_stay_such_where_some_are_missing() -> None:
    table = Table(title="a", frame=[{"a": 1, "b": 1, "c": True}, {"a": None, "b": 2.5}])
    assert [str(kind) for kind in table.whole.dtypes] == ["Int64", "float64", "object"]
