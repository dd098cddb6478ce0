"""The algorithms as a command line knows them: there before anything is imported that takes long."""

from dataclasses import dataclass

__all__ = ["KINDS", "MEC_KINDS", "MOST_PIVOTS", "Kind"]

MOST_PIVOTS = 31
"""Pivots of ``quach`` at a time: the bits of half a word of 64 that leave its sign alone."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is to be known of an algorithm before it runs.

    Parameters
    ----------
    text : str
        What it is, in a line.
    threads : bool
        Whether it uses more than one thread.
    devices : bool
        Whether it is made of steps, which run on any device.
    options : tuple of str
        Options of its own.
    """

    text: str
    threads: bool = False
    devices: bool = False
    options: tuple[str, ...] = ()


KINDS = {
    "kosaraju": Kind(text="two searches and an intersection per component, as the accelerator; one thread"),
    "tarjan": Kind(text="one depth-first search; one thread"),
    "hong": Kind(text="the basic parallel FW-BW-Trim of Hong et al. 2013", threads=True),
    "li": Kind(
        text="Li et al. 2013: Partition by many sources, then one source for each subgraph",
        threads=True,
        devices=True,
        options=("sources",),
    ),
    "multipartition": Kind(
        text="a pivot, a vice pivot, and all partitions that come of them at once", threads=True, devices=True
    ),
    "quach": Kind(
        text="several pivots at a time, after pruning, of Quach et al. 2012",
        threads=True,
        devices=True,
        options=("pivots",),
    ),
    "fbt": Kind(
        text="forward-backward search with trimming, of Wijs et al. 2014",
        threads=True,
        devices=True,
        options=("cached", "segment", "no-hybrid"),
    ),
}
"""By name."""

MEC_KINDS = {
    "basic": Kind(text="the sequential algorithm of Wijs et al. 2014, section 2.3, with Tarjan's; one thread"),
    "parallel": Kind(text="the parallel algorithm of Wijs et al. 2014, section 3.4", threads=True, devices=True),
}
"""Algorithms for maximal end components, by name."""
