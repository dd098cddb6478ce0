"""The table of software algorithms, available to the command line without slow imports.

To add an algorithm, write a function in a module of `cyscc.host.baselines.software`, and add a row here. Commands,
their help, comparisons and measurements derive from the table.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from cyscc.host.specification.ask import Ask, SpecError

MOST_PIVOTS = 31
"""Most concurrent pivots of ``quach``: one bit each in half of a 64-bit word, without the sign bit."""
PIVOTS = 10
"""Default number of concurrent pivots, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A row of the table: description, function and capabilities of an algorithm.

    Parameters
    ----------
    text : str
        One-line description.
    function : str
        The function, as ``module:name`` within `cyscc.host.baselines`. It takes a graph and its transpose, or a Markov
        decision process, and a `cyscc.host.baselines.software.SoftwareSetting`.
    threads : bool
        Whether it uses more than one thread.
    devices : bool
        Whether it is built from steps, which run on any device.
    seeded : bool
        Whether it makes random choices.
    transpose : bool
        Whether it needs the transpose of the graph.
    options : mapping of str to Ask
        Options specific to it, by name; they are passed in `cyscc.host.baselines.software.SoftwareSetting`.
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

_AS_PRINTED = {
    AS_PRINTED: Ask(help="fbt, li, quach: the paper's scheme alone, without the additions made here", switch=True)
}

_SOURCES = (
    "li: number of sources drawn by Partition, 0 for none (default: as many as reach half of the vertices left; with "
    "--as-printed min(n / 10, n / d^2), d = m / n)"
)

KINDS = {
    "kosaraju": Kind(
        text="two searches and an intersection per component, as the accelerator; one thread",
        function="software.kosaraju:kosaraju",
    ),
    "tarjan": Kind(text="one depth-first search; one thread", function="software.tarjan:tarjan", transpose=False),
    "hong": Kind(text="the basic parallel FW-BW-Trim of Hong et al. 2013", function="software.hong:hong", threads=True),
    "li": Kind(
        text="Li et al. 2013: Partition by many sources, then one source for each subgraph",
        function="software.li:li",
        threads=True,
        devices=True,
        seeded=True,
        options={"sources": Ask(help=_SOURCES, metavar="K", low=0), **_AS_PRINTED},
    ),
    "multipartition": Kind(
        text="a pivot and a vice pivot, and all resulting partitions at once",
        function="software.multipartition:multipartition",
        threads=True,
        devices=True,
        seeded=True,
    ),
    "quach": Kind(
        text="several pivots at a time, after pruning, of Quach et al. 2012",
        function="software.quach:quach",
        threads=True,
        devices=True,
        seeded=True,
        options={
            "pivots": Ask(help=f"quach: pivots at a time (default: {PIVOTS})", metavar="M", low=1, high=MOST_PIVOTS),
            **_AS_PRINTED,
        },
    ),
    "fbt": Kind(
        text="forward-backward search with trimming, of Wijs et al. 2014",
        function="software.fbt:fbt",
        threads=True,
        devices=True,
        options={
            # Bounded because a launch is not given up.
            "cached": Ask(
                help="fbt: iterations of a search per launch, with a cache of states", metavar="I", low=0, high=256
            ),
            # Bounded because the warm-up graph is padded by as much.
            "segment": Ask(help="fbt: interleave transitions of states of up to J", metavar="J", low=0, high=4096),
            "no-hybrid": Ask(help="fbt: a separate launch for each direction of the search", switch=True),
            **_AS_PRINTED,
        },
    ),
}
"""Algorithms for strongly connected components, by name."""

MEC_KINDS = {
    "basic": Kind(
        text="the sequential algorithm of Wijs et al. 2014, section 2.3, with Tarjan's; one thread",
        function="mec.basic:basic",
    ),
    "parallel": Kind(
        text="the parallel algorithm of Wijs et al. 2014, section 3.4",
        function="mec.parallel:parallel",
        threads=True,
        devices=True,
    ),
}
"""Algorithms for maximal end components, by name."""


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
