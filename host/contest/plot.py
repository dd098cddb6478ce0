"""Contests as a plot: a panel for each graph, a bar for each entry."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from host.contest.entries import Contest
from host.results.plots import BLUE, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["contest_figure"]

_BAR = 0.3
"""Inches of a bar."""

_WHOLE = 100
"""Milliseconds from which on a label has no fraction."""


def contest_figure(contests: Sequence[Contest]) -> "Figure":
    """Return a figure: times on a logarithmic axis, simulated ones hatched and named so.

    Parameters
    ----------
    contests : sequence of Contest
        One for each panel, from top to bottom.
    """
    heights = [1.0 + _BAR * len(contest.entries) for contest in contests]
    figure = new_figure(width=9, height=sum(heights) + 0.5)
    panels = figure.subplots(len(contests), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for axes, contest in zip(panels, contests, strict=True):
        _draw(axes, contest)
    handles = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=2, frameon=False)
    return figure


def _time_text(milliseconds: float) -> str:
    """Return a time of three digits, whole from 100 on."""
    return f"{milliseconds:,.0f}" if milliseconds >= _WHOLE else f"{milliseconds:.3g}"


def _draw(axes: "Axes", contest: Contest) -> None:
    names = [entry.name for entry in contest.entries]
    for simulated, colour, hatch, label in (
        (False, BLUE, "", "software: real time on this machine"),
        (True, ORANGE, "///", "machine: simulated time, cycles by its clock"),
    ):
        shown = [
            (place, entry)
            for place, entry in enumerate(contest.entries)
            if entry.simulated == simulated and entry.milliseconds is not None
        ]
        if not shown:
            continue
        bars = axes.barh(
            [place for place, _ in shown],
            [entry.milliseconds or 0 for _, entry in shown],
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=label,
        )
        axes.bar_label(bars, [_time_text(entry.milliseconds or 0) for _, entry in shown], padding=3, fontsize=8)
    for place, entry in enumerate(contest.entries):
        if entry.milliseconds is None:
            axes.text(0.01, place, entry.trouble, transform=axes.get_yaxis_transform(), va="center", fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.set_xlabel("time (ms)")
    axes.tick_params(labelbottom=True)
    axes.grid(axis="x", color="0.85")
    axes.set_axisbelow(True)
    axes.set_title(
        f"{Path(contest.graph).name}: {contest.vertices:,} vertices, {contest.edges:,} edges, "
        f"{contest.components:,} components",
        fontsize=10,
    )
