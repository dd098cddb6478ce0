"""The table of software algorithms, of the file beside the code, available to the command line without slow imports.

To add an algorithm, write a function in a module of `cyscc.host.baselines.software`, and add an entry to the file.
Commands, their help, comparisons and measurements derive from the table.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from cyscc.host.specification.ask import Ask, SpecError


@dataclass(frozen=True, kw_only=True)
class Kind:
    """An entry of the table: description, function and capabilities of an algorithm.

    Parameters
    ----------
    text : str
        One-line description.
    function : str
        The function, as ``module:name`` within `cyscc.host.baselines`. It takes a graph and its transpose, or a Markov
        decision process, and a `SoftwareSetting` of `cyscc.host.baselines.software.decomposition`.
    threads : bool
        Whether it uses more than one thread.
    devices : bool
        Whether it is built from steps, which run on any device.
    seeded : bool
        Whether it makes random choices.
    transpose : bool
        Whether it needs the transpose of the graph.
    options : mapping of str to Ask
        Options specific to it, by name; they are passed in the setting.
    """

    text: str
    function: str
    threads: bool = False
    devices: bool = False
    seeded: bool = False
    transpose: bool = True
    options: Mapping[str, Ask] = field(default_factory=dict)

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        module, name = self.function.split(":")
        function: Callable[..., Any] = getattr(import_module(f"cyscc.host.baselines.{module}"), name)
        return function


AS_PRINTED = "as-printed"
"""Option of the algorithms that have additions to their paper's scheme."""

_AS_PRINTED = Ask(help="fbt, li, quach: the paper's scheme alone, without the additions made here", switch=True)


def _read(about: dict[str, Any]) -> Kind:
    options = {name: Ask(**each) for name, each in about.pop("options", {}).items()}
    if about.pop("printed", False):
        options[AS_PRINTED] = _AS_PRINTED
    return Kind(**about, options=options)


KINDS, MEC_KINDS = (
    {name: _read(about) for name, about in part.items()}
    for part in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).values()
)
"""Algorithms for strongly connected components, and for maximal end components, by name."""

PIVOTS = 10
"""Default number of concurrent pivots of ``quach``, as in the paper."""

MOST_PIVOTS = KINDS["quach"].options["pivots"].high
"""Most of them."""


def check_used(
    names: Sequence[str],
    kinds: Mapping[str, Kind] = KINDS,
    *,
    device: str,
    order: str,
    threads: int | None,
    seed: int = 1,
    machines: bool = False,
) -> None:
    """Refuse a device, an order, threads or a seed that none of some algorithms uses.

    Parameters
    ----------
    names : sequence of str
        The algorithms; those that are not of the table are libraries.
    kinds : mapping of str to Kind
        The table.
    device, order, threads, seed
        The options.
    machines : bool
        Whether simulated machines use threads.

    Raises
    ------
    SpecError
        One is none of the defaults, and not used.
    """
    used = [kinds[name] for name in names if name in kinds]
    steps = any(kind.devices for kind in used)
    several = machines or any(kind.threads and (device == "cpu" or not kind.devices) for kind in used)
    seeded = any(kind.seeded or (kind.devices and order == "shuffled") for kind in used)
    for option, unused, why in (
        ("device", device != "cpu" and not steps, "not made of steps"),
        ("order", order != "natural" and not steps, "not made of steps"),
        ("threads", threads is not None and threads > 1 and not several, "one thread of the processor"),
        ("seed", seed != 1 and not seeded, "no random choices"),
    ):
        if unused:
            raise SpecError(option, f"not used by {', '.join(names)}: {why}")
