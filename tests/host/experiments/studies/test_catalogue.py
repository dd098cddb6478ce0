"""Defaults and limits of the reproductions."""

from typing import Any

import pytest

from cyscc.host.experiments.studies.catalogue import REPRODUCTIONS, study_of
from cyscc.host.specification.ask import SpecError
from tests.refusals import refused


def asked(name: str, *, quick: bool = False, **given: Any) -> dict[str, Any]:
    """Return the fields of the study of a reproduction, but for what every one has."""
    found = vars(study_of(name, given, quick=quick))
    return {name: value for name, value in found.items() if name not in ("threads", "seed", "figure", "memory")}


def test_fields_are_the_defaults_and_quick_ones() -> None:
    # Which they are says the help of the command, which is pinned.
    for name, about in REPRODUCTIONS.items():
        own = asked(name)
        assert own.items() >= {each: about.options[each] for each in own if each in about.options}.items()
        if about.quick:
            assert asked(name, quick=True) == {**own, **about.quick} != own
    assert {name for name, about in REPRODUCTIONS.items() if "seed" not in about.options} == {"vhdl", "dram"}


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
