"""Accesses behind a switch: the kernels and processes that made them, found by what they access.

A port of the memory is then that of a link. A read brings its kernel's number, but not its process; a write neither.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.sim.configuration import AcceleratorConfig
from cyscc.sim.hardware import VISITED, owners_of

_UNKNOWN = -1


def processes_behind(
    rows: pd.DataFrame, graphs: Sequence[PlacedGraph], *, reaches: Sequence[tuple[int, int]], unknown: str
) -> "pd.Series":
    """Return the process of each access, also of the reads of graph words by intersections.

    A kernel reads the other direction's word of each entry of its reach queue, and the own word of some. It reads the
    forward queue first, and the words of a vertex in order.

    Parameters
    ----------
    rows : DataFrame
        The accesses, with ``instruction`` and ``vertex``.
    graphs : sequence of PlacedGraph
        The machine's graphs.
    reaches : sequence of (int, int)
        Address and size in bytes of the reach queues.
    unknown : str
        What stands for a process that is not known.
    """
    process = rows["process"].copy()
    own = rows[rows["module"] == "intersection"]
    key = ["instruction", "engine", "kernel", "vertex"]
    entries, colours = (own[own["process"] == name] for name in ("reach_reader", "colour_reader"))
    words = own[own["process"] == unknown]
    if words.empty:
        return process
    number = np.searchsorted([start for start, _ in reaches], entries["address"].to_numpy(), side="right") - 1
    by_key = words[key].copy()
    for name, some in (("forward", entries[number == 0]), ("backward", entries[number == 1]), ("colours", colours)):
        counts = some.groupby(key).size().rename(name).reset_index()
        by_key[name] = words[key].merge(counts, on=key, how="left")[name].fillna(0).to_numpy(np.int64)
    second = words["address"].to_numpy() >= graphs[-1].words_address
    if graphs[-1].words_address < graphs[0].words_address:
        second = words["address"].to_numpy() < graphs[0].words_address
    by_key["second"] = second
    groups = by_key.groupby([*key, "second"])
    rank, count = groups.cumcount().to_numpy(), groups["second"].transform("size").to_numpy()
    forward, backward = by_key["forward"].to_numpy(), by_key["backward"].to_numpy()
    others = np.where(second, rank < forward, count - rank <= backward)
    # All that was read of the vertex must be among the accesses.
    whole = (by_key["colours"].to_numpy() == forward + backward) & (count >= np.where(second, forward, backward))
    process[words.index] = np.where(whole, np.where(others, "colour_reader", "classifier"), unknown)
    return process


def kernels_behind(rows: pd.DataFrame, config: AcceleratorConfig) -> npt.NDArray[np.int64]:
    """Return the kernel of each access; -1 for a write of which it is not known.

    Where kernels exchange ids, the one that owns a vertex visits it. Otherwise it is the one that has found it
    unvisited, unless several did. An intersection colours what its kernel has found without a colour and reached by
    both searches, and clears the flag of a word that it has read before.

    Parameters
    ----------
    rows : DataFrame
        The accesses, with ``instruction`` and ``vertex``.
    config : AcceleratorConfig
        The machine.
    """
    kernel = rows["kernel"].to_numpy().astype(np.int64)
    vertex, searches = rows["vertex"].to_numpy(), (rows["module"] == "bfs").to_numpy()
    writes = (rows["kind"] == "write").to_numpy()
    if config.visited_filter:
        owned = writes & searches & (vertex != _UNKNOWN)
        kernel[owned] = owners_of(vertex[owned], config.bfs_kernels)
    process, array = rows["process"].to_numpy(), rows["array"].astype(str).to_numpy()
    flagged = VISITED.get(rows["data"].to_numpy().astype(np.uint64)) != 0
    key = ["instruction", "engine", "vertex"]
    bare = rows[(process == "colour_reader") & (array == "colours") & (rows["data"].to_numpy() == 0)]
    both = rows[(process == "colour_reader") & (array == "words") & flagged]
    for written, readers in (
        (searches, rows[(process == "word_reader") & ~flagged]),
        (~searches & (array == "colours"), bare.merge(both[[*key, "kernel"]].drop_duplicates(), on=[*key, "kernel"])),
        (~searches & (array == "words"), rows[~writes & (process == "classifier")]),
    ):
        alone = readers.groupby(key)["kernel"].agg(["min", "max"]).reset_index()
        alone = alone[alone["min"] == alone["max"]]
        open_ = written & writes & (kernel == _UNKNOWN)
        told = rows.loc[open_, key].merge(alone, on=key, how="left")["min"].fillna(_UNKNOWN)
        kernel[open_] = told.to_numpy(np.int64)
    return kernel
