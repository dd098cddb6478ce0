"""The catalogue of tables and figures for `cyscc reproduce`, defined without slow imports."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.specification.ask import SpecError
from cyscc.host.specification.numbers import number_text, whole_number
from cyscc.sim.configuration import PRESETS
from cyscc.sim.processors import available_cores

if TYPE_CHECKING:
    from cyscc.host.experiments.studies.study import Told


"""Machines of Attia et al. 2015, section 6, by the names that `cyscc reproduce` takes."""

SEARCH_MACHINES = {"published": "published-bfs", "published-scc": "published", "hc2": "hc2"}
"""Presets with four AEs for table I and figures 10 and 11, by machine name.

The paper measured these on its BFS build, which has separate rows in table II and separate source code. So `published`
is that build here; `published-scc` is the one that finds components.
"""

COMPONENT_MACHINES = {"published": "published", "hc2": "hc2"}
"""Presets with four AEs for figures 12 and 13, by machine name. The paper used its SCC build."""


def preset_of(machine: str, engines: int) -> str:
    """Return the preset of a machine in `SEARCH_MACHINES` with one or four AEs."""
    preset = SEARCH_MACHINES[machine]
    return preset if engines == 4 else f"{preset}-1ae"


@dataclass(frozen=True)
class Reproduction:
    """A table or figure that can be reproduced; its study is imported only when it runs.

    Parameters
    ----------
    title : str
        Its title in the paper.
    text : str
        Its contents.
    study : str
        Module in `cyscc.host.experiments.studies` and class of its `Told`: ``module:Class``.
    options : mapping
        Its options, fields of the study, with their default values.
    quick : mapping
        The values of the study's fields for a quick reproduction; empty if there is none.
    machines : sequence of str
        Machines that it knows.
    """

    title: str
    text: str
    study: str
    options: Mapping[str, Any]
    quick: Mapping[str, Any] = field(default_factory=dict)
    machines: Sequence[str] = ()

    def defaults(self) -> str:
        """Return the options with their defaults: ``--vertices 2^20 --degrees 8,16``."""
        words = ["--quick"] if self.quick else []
        for name, value in self.options.items():
            told = () if value is None else value if isinstance(value, tuple) else (value,)
            texts = map(number_text if name in ("vertices", "max_edges") else str, told)
            words.append(f"--{name.replace('_', '-')} {','.join(texts)}".rstrip())
        return " ".join(words)


_MACHINES = {
    "searches": tuple(SEARCH_MACHINES),
    "components": tuple(COMPONENT_MACHINES),
    # Presets with the number of AEs and kernels of the published hardware that was simulated.
    "vhdl": tuple(name for name, config in PRESETS.items() if config.engines == 1 and config.bfs_kernels == 16),
}
"""Machines by the names of the file."""


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as they are in Python: several values are a tuple, and an empty text is None."""
    return {
        name: tuple(value) if isinstance(value, list) else None if value == "" else value
        for name, value in given.items()
    }


def _read(about: dict[str, Any]) -> Reproduction:
    about["machines"] = _MACHINES.get(about.get("machines", ""), ())
    about |= {name: _options(about.get(name, {})) for name in ("options", "quick")}
    return Reproduction(**about)


REPRODUCTIONS = {
    name: _read(about)
    for name, about in tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")).items()
}
"""Tables and figures by name, which is that of their files, too."""

_POWERS = (1 << 4, 1 << 25)


def study_of(figure: str, given: Mapping[str, Any], *, quick: bool = False) -> "Told":
    """Return the study of a table or figure.

    Parameters
    ----------
    figure : str
        Its name.
    given : mapping
        Options that are given; a number or text, or several.
    quick : bool
        Whether it is a quick reproduction.

    Raises
    ------
    SpecError
        It has no such option, or a value is invalid.
    """
    about = REPRODUCTIONS[figure]
    for name in (
        *(["quick"] if quick and not about.quick else []),
        *(each for each in given if each not in about.options),
    ):
        raise SpecError(name, f"{figure} has no such option: it has {about.defaults()}")
    values = {**about.options, **(about.quick if quick else {})}
    for name, value in given.items():
        several = isinstance(about.options[name], tuple) or name in ("models", "latencies")
        values[name] = _checked(name, value, about) if several else value
    if isinstance(about.options.get("vertices"), int):
        values["vertices"] = _single(values["vertices"])
    if "threads" in values:
        values["threads"] = values["threads"] or available_cores()
    module, _, kind = about.study.partition(":")
    found: type[Told] = getattr(import_module(f"cyscc.host.experiments.studies.{module}"), kind)
    return found(figure=figure, **values)


def _single(value: Any) -> int:
    """Return the number of vertices of the graphs of a figure."""
    values = [value] if isinstance(value, int) else list(value)
    if len(values) != 1:
        raise SpecError("vertices", "the figure has one number of vertices")
    try:
        return whole_number(str(values[0]), low=10, high=_POWERS[1])
    except ValueError as error:
        raise SpecError("vertices", str(error)) from None


def _checked(name: str, value: Any, about: Reproduction) -> tuple[Any, ...]:
    """Return several values of an option."""
    values = (value,) if isinstance(value, int | str) else tuple(value)
    for place, each in enumerate(values):
        if each in values[:place]:
            raise SpecError(name, f"{each} is given twice")
        if name == "configs" and each not in about.machines:
            raise SpecError(name, f"unknown machine {each!r}: there are {', '.join(about.machines)}")
        if name == "vertices" and (each & (each - 1) or not _POWERS[0] <= each <= _POWERS[1]):
            raise SpecError(name, f"must be powers of two from 2^4 to 2^25, not {each}")
    return values
