"""The table of software algorithms, available to the command line without slow imports.

To add an algorithm, write a function in a module of `cyscc.host.baselines.software`, and add a row here. Commands,
their help, comparisons and measurements derive from the table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["AS_PRINTED", "KINDS", "MEC_KINDS", "MOST_PIVOTS", "PIVOTS", "Kind", "Option"]

MOST_PIVOTS = 31
"""Most concurrent pivots of ``quach``: one bit each in half of a 64-bit word, without the sign bit."""
PIVOTS = 10
"""Default number of concurrent pivots, as in the paper."""


@dataclass(frozen=True)
class Option:
    """An option of an algorithm, passed to it in `cyscc.host.baselines.software.SoftwareSetting`.

    Parameters
    ----------
    name : str
        Name, without the two dashes.
    text : str
        Help text.
    metavar : str or None
        Placeholder of its value, an integer, in the help; None for a flag.
    least, most : int
        Smallest and largest value.
    """

    name: str
    text: str
    metavar: str | None = None
    least: int = 0
    most: int = 1 << 64


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
    options : tuple of Option
        Options specific to it.
    """

    text: str
    function: str
    threads: bool = False
    devices: bool = False
    seeded: bool = False
    transpose: bool = True
    options: tuple[Option, ...] = ()

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        module, name = self.function.split(":")
        function: Callable[..., Any] = getattr(import_module(f"cyscc.host.baselines.{module}"), name)
        return function


AS_PRINTED = Option("as-printed", "fbt, li, quach: the paper's scheme alone, without the additions made here")
"""Option of the algorithms that have additions to their paper's scheme."""

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
        options=(Option("sources", _SOURCES, "K"), AS_PRINTED),
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
        options=(Option("pivots", f"quach: pivots at a time (default: {PIVOTS})", "M", 1, MOST_PIVOTS), AS_PRINTED),
    ),
    "fbt": Kind(
        text="forward-backward search with trimming, of Wijs et al. 2014",
        function="software.fbt:fbt",
        threads=True,
        devices=True,
        options=(
            # Bounded because a launch is not given up.
            Option("cached", "fbt: iterations of a search per launch, with a cache of states", "I", most=256),
            # Bounded because the warm-up graph is padded by as much.
            Option("segment", "fbt: interleave transitions of states of up to J", "J", most=4096),
            Option("no-hybrid", "fbt: a separate launch for each direction of the search"),
            AS_PRINTED,
        ),
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
