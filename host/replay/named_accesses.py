"""Memory accesses of a window of a replay, with the vertices that they are about."""

from typing import TYPE_CHECKING

import numpy as np

from cyscc.host.record.reader import Record
from cyscc.host.replay.accesses import AccessWatcher
from cyscc.sim.hardware import DEGREE, START
from cyscc.sim.memory import ArrayKind

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

__all__ = ["NamedAccesses"]


class NamedAccesses(AccessWatcher):
    """Collects memory accesses in a window, with the vertices that they are about."""

    def named(self, record: Record) -> "pd.DataFrame":
        """Return the accesses with `vertex`, -1 where none is known.

        Of a graph word, a colour and an entry of a reach queue it is theirs; of the id of a neighbour it is the
        neighbour; of an entry of a frontier queue that with the same graph word.
        """
        rows = self.frame(record)
        array, address = rows["array"].astype(str).to_numpy(), rows["address"].to_numpy()
        data, wide = rows["data"].to_numpy(), rows["size"].to_numpy() == 8
        backward = (record.instructions_at(rows["cycle"])["phase"] == "backward").to_numpy()
        numbers = np.full(len(rows), -1, np.int64)

        def name(which: "npt.NDArray[np.bool_]", values: "npt.NDArray[np.integer]") -> None:
            numbers[which] = values[which]

        name((array == "neighbours") | ((array == "queues") & ~wide), data.astype(np.int64))
        for direction, each in enumerate(self._graphs):
            offsets, vertices = each.graph.offsets, each.graph.vertices
            places = (address - each.words_address) // 8
            name((array == "words") & (places >= 0) & (places < vertices), places)
            # The neighbours of no two vertices begin at one place, unless one has none.
            entries = (array == "queues") & wide & (DEGREE.get(data) > 0) & (backward == bool(direction))
            starts = START.get(data).astype(np.int64)
            owners = np.searchsorted(offsets, starts, side="right") - 1
            name(entries & (offsets[np.clip(owners, 0, vertices)] == starts), owners)
        memory = self._machine.memory
        for (start, size), kind in zip(memory.allocations, memory.holds, strict=True):
            if kind is ArrayKind.COLOURS:
                name((address >= start) & (address < start + size), (address - start) // 4)
        graph = self._graphs[0].graph
        known = (numbers >= 0) & (numbers < graph.vertices)
        numbers[~known] = -1
        numbers[known] = graph.original(numbers[known])
        return rows.assign(vertex=numbers)
