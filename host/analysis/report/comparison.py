"""Comparison of several runs, whose iterations are paired, and its charts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cyscc.host.analysis.explain.comparison import outside, paired_iterations
from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.analysis.report.frames import LONE, OUTSIDE, Key, chart, key_title
from cyscc.host.answer import charts
from cyscc.host.answer.charts import INK, Chart, Panel, literal, look, new_figure, traces
from cyscc.host.answer.colours import STACK
from cyscc.host.record.reader import Record
from cyscc.host.record.tables import PHASES


class AlignedRuns:
    """Runs aligned by level.

    An instruction that a run lacks counts as 0 cycles. Iterations that the first run lacks are summed by phase. Cycles
    of a cause are those of an average kernel, so that the differences of all causes add up to the difference in cycles,
    also between machines of different size.

    Parameters
    ----------
    records : sequence of Record
        The runs; the first one is the reference of the comparison.
    most : int
        Most levels that are shown: those that differ most.

    Attributes
    ----------
    levels : list of pandas.DataFrame
        Cycles of each run by level that is shown and by cause.
    whole : pandas.DataFrame
        Cycles of each run by cause, including those outside of instructions.
    left_out : int
        Number of levels that are not shown.
    """

    def __init__(self, records: Sequence[Record], *, most: int) -> None:
        frames = [_keyed(record, records[0]) for record in records]
        every = {key for frame in frames for key in frame.index}
        keys = sorted(every, key=lambda key: (key.iteration, PHASES.index(key.phase), key.level))
        frames = [frame.reindex(keys, fill_value=0) for frame in frames]
        cycles = pd.DataFrame([frame["cycles"] for frame in frames])
        # If nothing differs, the longest are shown.
        spread = cycles.max() - cycles.min() if (cycles.max() > cycles.min()).any() else cycles.max()
        chosen = np.sort(np.argsort(-spread.to_numpy(), kind="stable")[:most])
        titles = [key_title(keys[place]) for place in chosen]
        self.levels = [frame.iloc[chosen][list(STACK)].set_axis(titles) for frame in frames]
        self.left_out = len(keys) - len(titles)
        self.whole = pd.DataFrame([frame[list(STACK)].sum() for frame in frames])
        for cause in OUTSIDE:
            self.whole[cause] += [outside(record).get(cause, 0) for record in records]

    def difference(self, run: int) -> pd.DataFrame:
        """Return the cycles by cause that a run's instructions took more than the first's: of all, of each level."""
        every = (self.whole.iloc[run] - self.whole.iloc[0]).to_frame("all").T
        every[OUTSIDE] = 0.0
        return pd.concat([every, self.levels[run] - self.levels[0]])


def _keyed(record: Record, first: Record) -> pd.DataFrame:
    """Return the stacks of a run's instructions by key, in the first run's numbers of iterations."""
    pairs = paired_iterations(first, record)
    frame = stacks(record, record.instructions, "level")
    lone = ~frame["iteration"].isin(pairs)
    frame["iteration"] = frame["iteration"].map(pairs).where(~lone, LONE).astype("int64")
    frame["level"] = frame["level"].where(~lone, -1)
    sums = frame.groupby(list(Key._fields))[["cycles", *STACK]].sum()
    sums.index = [Key(*key) for key in sums.index]
    return sums


def comparison_charts(comparison: AlignedRuns, names: Sequence[str]) -> list[Chart]:
    """Return the charts of a comparison.

    Parameters
    ----------
    comparison : AlignedRuns
        The comparison.
    names : sequence of str
        Names of the runs, in their order.
    """
    return [_whole(comparison, names), _beside(comparison, names), _difference_chart(comparison, names)]


def _whole(comparison: AlignedRuns, names: Sequence[str]) -> Chart:
    names = [literal(name) for name in names]
    form = f"%{{x:,.0f}} cycles, %{{customdata:+,.0f}} against {names[0]}"
    shown = traces(comparison.whole.set_axis(names), "rows", form=form)
    for trace in shown:
        trace["customdata"] = trace["x"] - trace["x"][0]
    return chart("compare-whole", charts.stacked_rows(shown, height=110 + 44 * len(names), x="cycles"))


def _beside(comparison: AlignedRuns, names: Sequence[str]) -> Chart:
    titles = list(comparison.levels[0].index)
    height = 220 if len(names) < 4 else 150
    parts = [
        Panel(literal(name), traces(stacks, "bars"), {"showticklabels": False}, {"title": "cycles"}, height)
        for name, stacks in zip(names, comparison.levels, strict=True)
    ]
    parts[-1] = parts[-1]._replace(x={})
    figure = charts.panels(parts, columns=1, shared="xy", barmode="stack")
    figure.name_places(titles)
    left_out = f" The {len(titles):,} that differ most; {comparison.left_out:,} others are left out."
    return chart("compare-levels", figure, others=left_out if comparison.left_out else "")


def _difference_chart(comparison: AlignedRuns, names: Sequence[str]) -> Chart:
    shown: list[charts.Trace] = []
    options = {}
    diamond = {"symbol": "diamond", "size": 9, "color": "white", "line": {"width": 1.6, "color": "black"}}
    for run in range(1, len(names)):
        begin, parts = len(shown), comparison.difference(run)
        shown += traces(parts, "bars", form="%{y:+,.0f} cycles")
        sums = {"x": parts.index.tolist(), "y": parts.sum(axis=1).to_numpy(np.float32), "name": "difference"}
        hover = "%{x}<br>difference: %{y:+,.0f} cycles<extra></extra>"
        shown.append({**look("points", "white", marker=diamond), **sums, "hovertemplate": hover})
        options[literal(f"{names[run]} against {names[0]}")] = list(range(begin, len(shown)))
    figure = new_figure(shown, height=420, y="cycles", barmode="relative")
    figure.name_places(parts.index)
    if len(names) > 2:
        figure.choose(options)
    figure.add_hline(y=0, line={"width": 1, "color": INK})
    runs = f": {names[1]} against {names[0]}" if len(names) == 2 else ""
    return chart("compare-difference", figure, runs=runs)
