"""Tables as text."""

from cyscc.host.output.tables import column_table, markdown_table, plain_table

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
