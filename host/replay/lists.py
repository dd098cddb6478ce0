"""Lists of neighbours as kernels read them: which entry of a queue, and which places of the array C, a read is for."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.host.replay.accesses import ID_MASK
from cyscc.sim.hardware import DEGREE, START, list_reads

_KERNEL = ["instruction", "engine", "kernel"]


def ids_read(reads: pd.DataFrame, entries: pd.DataFrame, graphs: Sequence[PlacedGraph], pairs: bool) -> pd.DataFrame:
    """Return a row for each id that reads of neighbours bring, with what is known of its place.

    A kernel reads the lists in the order of its entries, each with as many reads as it takes. A pair at the end of a
    list, or of a chunk of it, has an id of another one besides, which the kernel drops.

    Parameters
    ----------
    reads : DataFrame
        The reads, with ``instruction`` and ``direction``, the number of their graph.
    entries : DataFrame
        All reads of queue entries in these instructions, likewise.
    graphs : sequence of PlacedGraph
        The machine's graphs.
    pairs : bool
        Field `pair_reads` of the configuration.

    Returns
    -------
    pandas.DataFrame
        The rows, with the ``address`` of the id itself, and ``id``; ``source``, the vertex in whose list it stands;
        ``entry``, the number of the entry that was read, among those of its kernel; and ``listed``, whether the id
        belongs to that entry.
    """
    words = entries["data"].to_numpy()
    first, count = START.get(words).astype(np.int64), list_reads(words, pairs=pairs)
    made = entries[_KERNEL].assign(
        entry=entries["number"], first=first, end=first + DEGREE.get(words).astype(np.int64), reads=count
    )
    made = made.sort_values("entry", kind="stable")
    made["begin"] = made.groupby(_KERNEL)["reads"].cumsum() - made["reads"]
    made = made[made["reads"] > 0].sort_values("begin", kind="stable").drop(columns="reads")
    found = pd.merge_asof(
        reads.sort_values("number", kind="stable"), made, left_on="number", right_on="begin", by=_KERNEL
    )
    wide = found[found["size"] == 8]
    high = wide.assign(address=wide["address"] + 4, id=wide["data"] >> np.uint64(32))
    ids = pd.concat([found.assign(id=found["data"] & np.uint64(ID_MASK)), high], ignore_index=True)
    lists = np.array([each.neighbours_address for each in graphs])
    place = (ids["address"].to_numpy() - lists[ids["direction"]]) // 4
    source = np.zeros(len(ids), np.int64)
    for direction, each in enumerate(graphs):
        own = (ids["direction"] == direction).to_numpy()
        source[own] = np.searchsorted(each.graph.offsets, place[own], side="right") - 1
    ids = ids.assign(source=source, listed=(place >= ids["first"]) & (place < ids["end"]))
    # The last pair may end behind the lists.
    return ids[place < np.array([each.graph.edges for each in graphs])[ids["direction"]]]
