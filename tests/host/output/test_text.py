"""Numbers in words."""

import pytest

from cyscc.host.output.text import bytes_text, count_text, device_text


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
