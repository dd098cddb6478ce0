"""Tables as text."""

from cyscc.host.output.tables import markdown_table, plain_table

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


def test_cells_stay_as_they_are() -> None:
    assert plain_table([("0.50", "1e3"), ("  x", "007")]).splitlines() == ["0.50  1e3", "  x   007"]
    assert markdown_table(["degree"], [["16.0"]]).splitlines()[2] == "| 16.0   |"
