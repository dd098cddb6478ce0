"""Text: tables, and numbers in words."""

import pytest

from cyscc.host.output.text import bytes_text, column_table, count_text, device_text, markdown_table, plain_table

HEAD = ("what", "unit", "value")
ROWS = [("cycles", "", "1,234"), ("a longer one", "MHz", "15.0")]


def test_plain_table() -> None:
    assert plain_table(ROWS, head=HEAD, words=2) == (
        "what          unit  value\ncycles              1,234\na longer one  MHz    15.0\n"
    )
    assert plain_table([("a", "1"), ("bcd", "")]) == "a    1\nbcd\n"


def test_markdown_table() -> None:
    assert markdown_table(HEAD, ROWS) == (
        "| what         | unit | value |\n"
        "|:-------------|-----:|------:|\n"
        "| cycles       |      | 1,234 |\n"
        "| a longer one |  MHz |  15.0 |\n"
    )


def test_columns_of_rows() -> None:
    columns = [("graph", "{name}"), ("edges", "{size[edges]:,}"), ("ms", "{time:.1f}")]
    rows = [{"name": "a", "size": {"edges": 1234}, "time": 2.5}, {"name": "b", "size": {"edges": 5}, "time": None}]
    lines = column_table(columns, rows, none="-", plain=True).splitlines()
    assert lines == ["graph  edges   ms", "a      1,234  2.5", "b          5    -"]
    of_pairs = column_table([("first", "{0}"), ("of the second", "{1[n]}")], [("x", {"n": 7})])
    assert of_pairs.splitlines()[2] == "| x     |             7 |"


def test_cells_stay_as_they_are() -> None:
    assert plain_table([("0.50", "1e3"), ("  x", "007")]).splitlines() == ["0.50  1e3", "  x   007"]
    assert markdown_table(["degree"], [["16.0"]]).splitlines()[2] == "| 16.0   |"


def test_count_text() -> None:
    assert [count_text(number, "edge") for number in (0, 1, 2000)] == ["0 edges", "1 edge", "2,000 edges"]
    assert count_text(3, "vertex") == "3 vertices"
    assert [device_text("cpu", 2), device_text("an accelerator", 2)] == ["2 threads", "an accelerator"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (3_400_000_000, "3.4 GB"),
        (10**13, "10.0 TB"),
        (2 * 10**18, "2,000.0 PB"),
    ],
)
def test_bytes_text(number: int, expected: str) -> None:
    assert bytes_text(number) == expected
