"""The iterations of a run that finds components: what they find, their cycles, and what would spare some of them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from cyscc.host.analysis.explain.evidence import SAID_OF_RUN
from cyscc.host.output.text import count_text
from cyscc.host.record.reader import SATURATED, Record


@dataclass(frozen=True, kw_only=True)
class Iterations:
    """The iterations of a run.

    A component has at most as many vertices as either search of its iteration has reached; an iteration without a
    backward search has found a single vertex.

    Parameters
    ----------
    record : Record
        The record.
    frame : pandas.DataFrame
        By iteration: `instructions`, `cycles`, `edges`, `levels` and `entries` of its searches with their `searching`
        cycles, `vertices` (the bound; 0 if the record ends in the iteration), and whether it has a `saturated` level.
    """

    record: Record
    frame: pd.DataFrame

    def group(self, chosen: "pd.Series[bool]") -> dict[str, int]:
        """Return the number of the iterations chosen, and of their instructions and cycles, without the host's.

        Its `vertices` are the bound of those of the components that they find.
        """
        rows = self.frame[chosen]
        sums = {name: int(rows[name].sum()) for name in ("instructions", "cycles", "vertices")}
        return {"iterations": len(rows), **sums}

    @property
    def large(self) -> "pd.Series[bool]":
        """The iterations with a saturated level; without any, the longest."""
        saturated = self.frame["saturated"]
        return saturated if self.saturated else self.frame["cycles"] == self.frame["cycles"].max()

    @property
    def saturated(self) -> bool:
        """Whether the large iterations have saturated levels."""
        return bool(self.frame["saturated"].any())

    @property
    def last_large(self) -> int:
        """The last of the large iterations."""
        return int(self.frame.index[self.large][-1])

    @property
    def tail(self) -> "pd.Series[bool]":
        """The iterations after the last large one."""
        return self.frame.index.to_series() > self.last_large

    @property
    def sizes(self) -> "list[tuple[int, int, dict[str, int]]]":
        """Iterations by the bound of their component: its least and most vertices, by powers of ten."""
        vertices = self.frame["vertices"]
        found = []
        least = 1
        while least <= vertices.max():
            most = max(10 * 10 ** (len(str(least)) - 1) - 1, 1) if least > 1 else 1
            group = self.group((vertices >= least) & (vertices <= most))
            if group["iterations"]:
                found.append((least, min(most, int(vertices[vertices <= most].max())), group))
            least = most + 1
        return found

    @property
    def advice(self) -> list[str]:
        """Changes of the algorithm that would spare iterations, each with the cycles that these take."""
        total = max(self.record.cycles, 1)
        single, tail = self.group(self.frame["vertices"] == 1), self.group(self.tail)
        singles, behind = (count_text(each["iterations"], "iteration") for each in (single, tail))
        small = self.frame[~self.large]
        found = []
        if single["cycles"] >= SAID_OF_RUN * total:
            found.append(
                f"Trim again between iterations: {singles} found a single vertex, "
                "whose edges in one direction all led to components found before, in "
                f"{_cycles(single['cycles'], total)}. Such vertices need no search."
            )
        if tail["cycles"] >= SAID_OF_RUN * total:
            milliseconds = 1e3 * tail["cycles"] / float(self.record.document["clock_hz"])
            edges = int(self.frame["edges"][self.tail].sum())
            found.append(
                f"Let the host finish after iteration {self.last_large:,}: {behind} "
                f"behind it take {_cycles(tail['cycles'], total)}, {milliseconds:,.3f} ms, for components of at most "
                f"{count_text(tail['vertices'], 'vertex')} together; "
                f"their searches traverse {count_text(edges, 'edge')}."
            )
        searching, levels = int(small["searching"].sum()), int(small["levels"].sum())
        kernels = self.record.kernels("bfs")
        if searching >= SAID_OF_RUN * total and 2 * small["entries"].sum() <= levels * kernels:
            found.append(
                f"Search from several pivots at once: the {count_text(levels, 'level')} of small iterations take "
                f"{_cycles(searching, total)}, with {small['entries'].sum() / levels:,.1f} entries on average for "
                f"{kernels} kernels. Searches side by side share a level's fixed cost: with two, half of it goes at "
                "most."
            )
        return found


def _cycles(cycles: int, total: int) -> str:
    return f"{count_text(cycles, 'cycle')} ({cycles / total:.1%} of the run)"


def iterations_of(record: Record) -> Iterations | None:
    """Return the iterations of a recorded run; None of a single search.

    Parameters
    ----------
    record : Record
        The record.
    """
    rows = record.instructions
    if not len(rows) or not (rows["iteration"] > 0).all():
        return None
    searching = rows["module"] == "bfs"
    frame = rows.groupby("iteration").agg(
        instructions=("cycles", "size"), cycles=("cycles", "sum"), edges=("edges", "sum")
    )
    searches = rows[searching].groupby("iteration")
    frame["levels"] = searches.size()
    frame["entries"] = searches["frontier"].sum()
    frame["searching"] = searches["cycles"].sum()
    new = (rows["pushed"] - rows["duplicates"]).groupby([rows["iteration"], rows["phase"]]).sum().unstack() + 1
    new = new.reindex(columns=["forward", "backward", "intersection"])
    complete = (new["forward"] == 1) | new["intersection"].notna()
    bound = np.fmin(new["forward"], new["backward"])
    frame["vertices"] = bound.where(complete, 0).fillna(0).astype("int64")
    frame["saturated"] = (rows["part"] == SATURATED).groupby(rows["iteration"]).any()
    return Iterations(record=record, frame=frame)
