"""Numbers in words."""

import pytest

from cyscc.host.output.wording import counted, place, sized


def test_counted() -> None:
    assert [counted(number, "edge") for number in (0, 1, 2000)] == ["0 edges", "1 edge", "2,000 edges"]
    assert counted(3, "vertex", "vertices") == "3 vertices"
    assert [place("cpu", 2), place("an accelerator", 2)] == ["2 threads", "an accelerator"]


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
def test_sized(number: int, expected: str) -> None:
    assert sized(number) == expected
