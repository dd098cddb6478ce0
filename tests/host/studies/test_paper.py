"""The paper's figures, typed once more from table I."""

import pytest

from host.studies.paper import ENGINES, KINDS, TABLE1_DEGREES, TABLE1_VERTICES, betkaoui_gteps, cygraph_gteps

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
