"""Reads of neighbours' ids: the places of the array C that each brings to its kernel, also of reads in pairs."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cyscc.host.graph.memory_map import PlacedGraph
from cyscc.sim.hardware import DEGREE, START

_KERNEL = ["instruction", "engine", "kernel"]
_ID = np.uint64((1 << 32) - 1)


def ids_read(rows: pd.DataFrame, entries: pd.DataFrame, graphs: Sequence[PlacedGraph], edge_chunk: int) -> pd.DataFrame:
    """Return a row for each id that reads of neighbours bring, with what is known of its place.

    A read of a pair at the end of a list, or of a chunk of it, has an id of other neighbours besides, which its kernel
    drops. Which one, the entry tells for which it was made: a kernel reads in the order of its entries.

    Parameters
    ----------
    rows : DataFrame
        The reads, with ``instruction`` and ``direction``, the number of their graph.
    entries : DataFrame
        The reads of queue entries, likewise; needed only where ids are read in pairs.
    graphs : sequence of PlacedGraph
        The machine's graphs.
    edge_chunk : int
        Field of the configuration.

    Returns
    -------
    pandas.DataFrame
        The rows, with the ``address`` of the id itself, and ``id``; ``place``, its index in C; ``source``, the vertex
        in whose list it stands; ``first``, the index in C with which the chunk begins; and ``turn``, how often this
        kernel has read that place before in this instruction.
    """
    rows = rows.sort_values([*_KERNEL, "cycle"], kind="stable")
    halves = []
    for direction, each in enumerate(graphs):
        own = rows[rows["direction"] == direction]
        place = (own["address"].to_numpy() - each.neighbours_address) // 4
        data, wide = own["data"].to_numpy().astype(np.uint64), own["size"].to_numpy() == 8
        offsets, edges = each.graph.offsets, each.graph.edges
        pair = []
        for half in (0, 1):
            at = np.minimum(place + half, edges - 1)
            source = np.searchsorted(offsets, at, side="right") - 1
            first = offsets[source]
            if edge_chunk:
                first = first + (at - first) // edge_chunk * edge_chunk
            number = (data >> np.uint64(32 * half) & _ID).astype(np.int64)
            address = each.neighbours_address + 4 * (place + half)
            there = (place + half < edges) & (wide | (half == 0))
            pair.append(own.assign(id=number, place=at, source=source, first=first, address=address, there=there))
        low, high = pair
        split = (low["there"] & high["there"] & (low["first"] != high["first"])).to_numpy()
        wanted = _firsts(low[split], high[split], entries[entries["direction"] == direction])
        for half in pair:
            kept = half["there"].to_numpy().copy()
            kept[split] = half["first"].to_numpy()[split] == wanted
            halves.append(half[kept].drop(columns="there"))
    found = pd.concat(halves).sort_values([*_KERNEL, "cycle", "place"], kind="stable")
    turn = found.groupby([*_KERNEL, "direction", "place"]).cumcount()
    return found.assign(turn=turn).reset_index(drop=True)


def _firsts(low: pd.DataFrame, high: pd.DataFrame, entries: pd.DataFrame) -> np.ndarray:
    """Return with which place of C the entry begins for which each pair was read; -1 where no entry is known.

    Parameters
    ----------
    low, high : DataFrame
        The two ids of each pair, of different entries.
    entries : DataFrame
        The reads of queue entries of the same graph.
    """
    words = entries["data"].to_numpy().astype(np.uint64)
    known = entries[_KERNEL].assign(first=START.get(words).astype(np.int64), order=entries["address"].to_numpy())
    known = known[DEGREE.get(words) > 0]
    keys = [*_KERNEL, "place"]
    pairs = low[[*keys, "first"]].rename(columns={"first": "low"}).assign(high=high["first"].to_numpy())
    # The same pair is read for entries of either list, one after the other.
    either = pd.concat(
        [pairs[[*keys, name]].drop_duplicates().rename(columns={name: "first"}) for name in ("low", "high")]
    )
    either = either.merge(known, on=[*_KERNEL, "first"]).sort_values([*keys, "order"], kind="stable")
    either["turn"] = either.groupby(keys).cumcount()
    turns = pairs.assign(turn=pairs.groupby(keys).cumcount().to_numpy())
    found = turns[[*keys, "turn"]].merge(either[[*keys, "turn", "first"]], on=[*keys, "turn"], how="left")["first"]
    return found.fillna(-1).to_numpy(np.int64)
