"""The paper's figures, typed once more from table I."""

from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from typing import Any

import pytest

from cyscc.host.experiments.studies import li, paper, quach, wijs
from cyscc.host.experiments.studies.paper import (
    ENGINES,
    KINDS,
    TABLE1_DEGREES,
    TABLE1_VERTICES,
    betkaoui_gteps,
    cygraph_gteps,
)

# degree: random 1 FPGA, 4 FPGAs, Betkaoui et al.; R-MAT 1 FPGA, 4 FPGAs, Betkaoui et al.
TABLE_I = """
8   0.504 1.949 0.745 0.504 1.761 0.450
16  0.567 2.220 1.520 0.546 1.925 0.975
32  0.584 2.308 2.325 0.570 2.032 1.750
64  0.589 2.339 2.900 0.584 2.108 2.138
"""


@pytest.mark.parametrize("line", TABLE_I.split("\n")[1:-1])
def test_table_1(line: str) -> None:
    degree, *values = line.split()
    found = []
    for kind in ("random", "rmat"):
        found += [cygraph_gteps(kind, int(degree), engines) for engines in (1, 4)]
        found.append(betkaoui_gteps(kind, int(degree)))
    assert found == [float(value) for value in values]


def test_axes() -> None:
    assert TABLE1_DEGREES == (8, 16, 32, 64)
    assert [size.bit_length() - 1 for size in TABLE1_VERTICES] == [20, 21, 22, 23]
    assert (KINDS, ENGINES) == (("random", "rmat"), (1, 4))


def test_degrees_that_the_table_has_not() -> None:
    assert cygraph_gteps("random", 128, 4) is None
    assert betkaoui_gteps("rmat", 4) is None


def numbers(value: Any) -> Iterator[float]:
    """Yield all numbers in a table."""
    match value:
        case int() | float():
            yield value
        case dict():
            yield from numbers([*value.keys(), *value.values()])
        case list() | tuple():
            for each in value:
                yield from numbers(each)
        case _ if is_dataclass(value) and not isinstance(value, type):
            yield from numbers(asdict(value))


FPGAS = [paper.DEVICES, paper.PUBLISHED, paper.PUBLISHED_BFS, paper.PUBLISHED_LESS_VENDOR, paper.BAR]


@pytest.mark.parametrize(
    ("table", "count", "total"),
    [
        (FPGAS, 18, 1_802_161),
        (li.FIGURE2, 21, 176_225),
        (li.FIGURE3, 10, 33309),
        (li.TABLE2, 57, 11_936),
        (li.REAL, 30, 2198.2),
        (quach.TABLE1, 18, 315_272.97),
        (quach.TABLE2, 126, 15_983_978.99),
        (wijs.TABLE1, 90, 6855.04),
        (wijs.TABLE2, 20, 2576.97),
        ([(each.sizes, each.quick) for each in wijs.MODELS], 35, 892_186),
        (wijs.CONFIGURATIONS, 8, 24),
    ],
    ids=[
        "FPGAs",
        "li 2",
        "li 3",
        "li",
        "li, real",
        "quach 1",
        "quach 2",
        "wijs 1",
        "wijs 2",
        "models",
        "configurations",
    ],
)
def test_tables_have_the_sums_of_the_printed_ones(table: Any, count: int, total: float) -> None:
    found = list(numbers(table))
    assert (len(found), round(sum(found), 3)) == (count, total)
