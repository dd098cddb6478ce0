"""Defaults and limits of the reproductions."""

from typing import Any

import pytest

from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS
from cyscc.host.specification.options import Parser, UsageError

SEARCHES: dict[str, Any] = {"vertices": tuple(1 << n for n in range(16, 23)), "degrees": (8, 16, 32, 64)}
COMPONENTS: dict[str, Any] = {"vertices": (1 << 16, 1 << 18, 1 << 20, 1 << 22), "degrees": (16, 32, 64, 128, 256)}
LARGEST: dict[str, Any] = {"max_edges": 1 << 26, "configs": ("published",)}
DEFAULTS: dict[str, dict[str, Any]] = {
    "table1": {"vertices": (1 << 20,), "configs": ("published", "hc2")},
    "fig10": SEARCHES | LARGEST,
    "fig11": SEARCHES | LARGEST,
    "fig12": COMPONENTS | LARGEST,
    "fig13": COMPONENTS | LARGEST,
    "vhdl": {
        "configs": ("published-vhdl-1ae",),
        "graphs": None,
        "latencies": None,
        "quick": False,
        "reference": None,
        "folder": None,
    },
    "li-fig2": {"vertices": 100_000},
    "li-fig3": {"vertices": 100_000},
    "li-table2": {"vertices": (1 << 20,), "graphs": (), "device": "cpu"},
    "li-fig5": {"vertices": (1 << 20,), "device": "cpu"},
    "li-fig6": {"graphs": (), "quick": False, "device": "cpu"},
    "quach-table1": {"graphs": (), "pivots": 10, "device": "cpu"},
    "quach-table2": {"most": 1_000_000, "pivots": 10, "device": "cpu"},
    "wijs-table1": {"quick": False, "device": "cpu"},
    "wijs-table2": {"quick": False, "device": "cpu", "models": None},
}


def asked(name: str, *words: str) -> dict[str, Any]:
    """Return the options of a reproduction on a command line, but for the threads."""
    (study,) = (each for each in REPRODUCTIONS if each.name == name)
    parser = Parser()
    study.options(parser)
    return {name: value for name, value in vars(parser.parse_args(words)).items() if name != "threads"}


def test_defaults() -> None:
    assert {each.name: asked(each.name) for each in REPRODUCTIONS} == DEFAULTS
    assert {each.name for each in REPRODUCTIONS if each.simulated} == {"table1", "fig10", "fig11", "fig12", "fig13"}


@pytest.mark.parametrize(
    ("name", "quick"),
    [
        ("table1", {"vertices": (1 << 16,)}),
        ("li-fig6", {"quick": True}),
        ("vhdl", {"quick": True}),
        ("quach-table2", {"most": 10_000}),
        ("wijs-table1", {"quick": True}),
        ("wijs-table2", {"quick": True}),
    ],
)
def test_quick(name: str, quick: dict[str, Any]) -> None:
    assert asked(name, "--quick") == DEFAULTS[name] | quick


@pytest.mark.parametrize(
    ("name", "option", "least", "most"),
    [
        ("table1", "vertices", 1 << 4, 1 << 25),
        ("fig10", "degrees", 1, 1 << 16),
        ("fig13", "max_edges", 1, 1 << 64),
        ("li-fig2", "vertices", 10, 1 << 25),
        ("quach-table2", "pivots", 1, 31),
    ],
)
def test_limits(name: str, option: str, least: int, most: int) -> None:
    flag = f"--{option.replace('_', '-')}"
    for value in (least, most):
        assert asked(name, flag, str(value))[option] in (value, (value,))
    for value in (least - 1, most + 1):
        with pytest.raises(UsageError, match=f"^argument {flag}: must be "):
            asked(name, flag, str(value))
