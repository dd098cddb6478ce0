"""Comparison of several runs, whose iterations are paired, and its charts."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.analysis.explain.comparison import outside, paired_iterations
from cyscc.host.analysis.explain.stacks import stacks
from cyscc.host.analysis.report.activity import LONE, OUTSIDE, Key, Levels
from cyscc.host.analysis.report.charts import Chart, bar_rows, bars, choice, new_figure, points
from cyscc.host.analysis.report.drawing import literal
from cyscc.host.answer.colours import STACK
from cyscc.host.record.arrow import numbers
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
        Most instructions that are shown individually.

    Attributes
    ----------
    levels : Levels
        The groups of instructions shown.
    by_cause : list of dict of str to ndarray
        Cycles of each run by cause and group.
    whole : list of dict of str to float
        Cycles of each run by cause, including those outside of instructions.
    """

    def __init__(self, records: Sequence[Record], *, most: int) -> None:
        frames = [_keyed(record, records[0]) for record in records]
        keys = sorted({key for frame in frames for key in frame.index})
        frames = [frame[["cycles", *STACK]].reindex(keys, fill_value=0) for frame in frames]
        cycles = np.array([numbers(frame["cycles"]) for frame in frames])
        spread = cycles.max(axis=0) - cycles.min(axis=0)
        # Choose the levels that differ most; if nothing differs, the longest.
        self.levels = Levels.group(keys, spread if spread.any() else cycles.max(axis=0), most=most)
        self.by_cause = [
            {cause: np.bincount(self.levels.of, frame[cause], self.levels.count) for cause in STACK} for frame in frames
        ]
        self.whole = [
            {cause: float(frame[cause].sum()) + outside(record).get(cause, 0) for cause in STACK}
            for record, frame in zip(records, frames, strict=True)
        ]

    def difference(self, run: int) -> dict[str, npt.NDArray[np.float64]]:
        """Return the cycles by cause that a run's instructions took more than the first's: of all, of each group."""
        (one, first), (other, own) = ((self.whole[n], self.by_cause[n]) for n in (0, run))
        return {
            cause: np.concatenate(
                [[other[cause] - one[cause] if cause not in OUTSIDE else 0], own[cause] - first[cause]]
            )
            for cause in STACK
        }


def _keyed(record: Record, first: Record) -> pd.DataFrame:
    """Return the stacks of a run's instructions by key, in the first run's numbers of iterations."""
    pairs = paired_iterations(first, record)
    frame = stacks(record, record.instructions, "level")
    lone = ~frame["iteration"].isin(pairs)
    frame["iteration"] = frame["iteration"].map(pairs).where(~lone, LONE).astype("int64")
    frame["level"] = frame["level"].where(~lone, -1)
    frame["phase"] = frame["phase"].map(PHASES.index)
    sums = frame.groupby(["iteration", "phase", "level"])[["cycles", *STACK]].sum()
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
    figure = new_figure(height=170 + 44 * len(names), x="cycles")
    names = [literal(name) for name in names]
    bar_rows(
        figure,
        names,
        {cause: [whole[cause] for whole in comparison.whole] for cause in STACK},
        customdata=lambda values: np.array([[value - values[0]] for value in values], np.float32),
        form=f"%{{cause}}: %{{x:,.0f}} cycles, %{{customdata[0]:+,.0f}} against {names[0]}<extra>%{{y}}</extra>",
    )
    about = "The whole runs. Cycles are those of an average kernel, so machines of different size can be compared."
    return Chart(name="compare-whole", title="Cycle stacks of the runs", about=about, figure=figure)


def _beside(comparison: AlignedRuns, names: Sequence[str]) -> Chart:
    figure = new_figure(height=460, y="cycles")
    levels = comparison.levels
    both = [
        [title for title in levels.titles for _ in names],
        [name for _ in levels.titles for name in _short(names)],
    ]
    cycles = {cause: np.stack([each[cause] for each in comparison.by_cause], axis=1).ravel() for cause in STACK}
    bars(figure, both, cycles, form="%{y:,.0f} cycles")
    called = ", ".join(f"{short}: {name}" for short, name in zip(_short(names), names, strict=True))
    about = f"Each level of all runs, {called}."
    if not levels.detailed:
        about += " Those that differ most stand by themselves, the others are put together by phase."
    return Chart(name="compare-levels", title="Levels beside each other", about=about, figure=figure)


def _short(names: Sequence[str]) -> list[str]:
    return [chr(ord("A") + number % 26) * (1 + number // 26) for number in range(len(names))]


def _difference_chart(comparison: AlignedRuns, names: Sequence[str]) -> Chart:
    figure = new_figure(height=460, y="cycles")
    options = {}
    titles = ["all", *comparison.levels.titles]
    for run in range(1, len(names)):
        begin = len(figure.data)
        parts = comparison.difference(run)
        bars(figure, titles, parts, form="%{y:+,.0f} cycles")
        sums = np.sum(list(parts.values()), axis=0)
        form = "%{x}<br>difference: %{y:+,.0f} cycles<extra></extra>"
        diamond = {"symbol": "diamond", "size": 9, "color": "white", "line": {"width": 1.6, "color": "black"}}
        points(figure, titles, sums.astype(np.float32), "difference", form=form, marker=diamond)
        options[literal(f"{names[run]} against {names[0]}")] = list(range(begin, len(figure.data)))
    if len(names) > 2:
        choice(figure, options)
    figure.add_hline(y=0, line={"width": 1, "color": "#2b2f36"})
    about = (
        "What the difference consists of: above the line are causes that took more cycles than in the first run, below "
        "it those that took fewer; the diamond is their sum, the difference in cycles. It is without the host's time."
    )
    title = "Differences by cause"
    if len(names) == 2:
        title = f"Differences by cause: {names[1]} against {names[0]}"
    return Chart(name="compare-difference", title=title, about=about, figure=figure)
