"""The papers' figures, typed once more from table I, and summed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cyscc.host.experiments.studies import paper, rows, wijs
from cyscc.host.experiments.studies.rows import PAPERS, printed
from cyscc.host.output.errors import InputError


def numbers(value: Any) -> Iterator[float]:
    """Yield all numbers in a table."""
    match value:
        case int() | float():
            yield value
        case dict():
            yield from numbers(list(value.values()))
        case list() | tuple():
            for each in value:
                yield from numbers(each)


FPGAS = [paper.DEVICES, paper.PUBLISHED, paper.PUBLISHED_BFS, paper.PUBLISHED_LESS_VENDOR, paper.BAR]


@pytest.mark.parametrize(
    ("name", "count", "total"),
    [
        ("FPGAs", 18, 1_802_161),
        ("attia-table1", 32, 273.893),
        ("li-fig2", 21, 176_225),
        ("li-fig3", 10, 33309),
        ("li-table2", 84, 14_080.2),
        ("quach-table1", 18, 315_272.97),
        ("quach-table2", 126, 15_983_978.99),
        ("wijs-table1", 90, 6855.04),
        ("wijs-table2", 20, 2576.97),
        ("models", 35, 892_186),
    ],
)
def test_tables_have_the_sums_of_the_printed_ones(name: str, count: int, total: float) -> None:
    tables: dict[str, Any] = {"FPGAs": FPGAS, "models": [(each.sizes, each.quick) for each in wijs.MODELS]}
    texts = ("name", "files", "model", "components", "kind")
    found = list(numbers(tables[name] if name in tables else printed(name, texts=texts)))
    assert (len(found), round(sum(found), 3)) == (count, total)


def test_every_table_names_its_source_and_has_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (*PAPERS.glob("*.csv"), *PAPERS.glob("*-table*.toml")):
        source = r"# \w+ et al\. 20\d\d, (tables? [\dI]+|figure \d)( and (figure )?\d)?, section \d(\.\d)?: "
        assert re.match(source, path.read_text())
    (tmp_path / "wrong.csv").write_text("# Someone et al. 2013\nname,depth\na,1\nb,12k\n")
    monkeypatch.setattr(rows, "PAPERS", tmp_path)
    with pytest.raises(InputError) as caught:
        printed("wrong")
    assert str(caught.value) == f"{tmp_path / 'wrong.csv'}:4: '12k' is no number"
