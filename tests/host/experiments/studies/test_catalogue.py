"""Defaults and limits of the reproductions."""

from typing import Any

import pytest

from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS, study_of
from cyscc.host.specification.ask import SpecError
from tests.refusals import refused

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
        "graphs": (),
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


def asked(name: str, *, quick: bool = False, **given: Any) -> dict[str, Any]:
    """Return the fields of the study of a reproduction, but for what every one has."""
    found = vars(study_of(name, given, quick=quick))
    return {name: value for name, value in found.items() if name not in ("threads", "seed", "figure", "memory")}


def test_defaults() -> None:
    assert list(REPRODUCTIONS) == list(DEFAULTS)
    for name, defaults in DEFAULTS.items():
        assert defaults.items() <= asked(name).items()
    simulated = {name for name, about in REPRODUCTIONS.items() if "memory" in about.options}
    assert simulated == {"table1", "fig10", "fig11", "fig12", "fig13"}
    assert {name for name, about in REPRODUCTIONS.items() if "seed" not in about.options} == {"vhdl"}


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
    assert (DEFAULTS[name] | quick).items() <= asked(name, quick=True).items()


def test_vertices_of_a_figure() -> None:
    for name, least in (("table1", 1 << 4), ("li-fig2", 10)):
        for value in (least, 1 << 25):
            assert asked(name, vertices=value)["vertices"] in (value, (value,))
        for value in (least - 1, (1 << 25) + 1):
            with pytest.raises(ValueError, match=r"must be "):
                asked(name, vertices=(value,))
    with refused(SpecError, "the figure has one number of vertices"):
        asked("li-fig3", vertices=(16, 32))


def test_an_option_of_others_is_refused() -> None:
    with refused(SpecError, "li-fig2 has no such option: it has --vertices 100000 --seed 1"):
        asked("li-fig2", degrees=(1,))
    with pytest.raises(SpecError, match=r"^fig10 has no such option: it has --vertices 2\^16,"):
        asked("fig10", quick=True)
