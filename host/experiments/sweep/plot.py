"""The plot of a sweep: cycles, throughput or time against the parameters."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyscc.host.experiments.sweep.definition import SweepStudy, is_logarithmic, is_ordered, is_wide, value_text
from cyscc.host.experiments.sweep.measures import MEASURES, Measure
from cyscc.host.experiments.sweep.rows import DONE, Row, best_so_far
from cyscc.host.output.figures import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    MARKERS,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    log_axis,
    new_figure,
    row_axis,
    row_places,
)
from cyscc.host.output.text import count_text
from cyscc.host.specification.overrides import NO_OVERRIDES
from cyscc.host.specification.run import resolved_configuration, resolved_profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["sweep_figure"]


_COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)
_MOST_LINES = 24
_MOST_PANELS = 12
_LETTER = 0.085
"""Width of a letter of a tick's label in inches, roughly."""


def sweep_figure(study: SweepStudy, rows: Sequence[Row], measure: str = "cycles") -> "Figure":
    """Return the plot of a sweep.

    The horizontal axis is the first parameter whose values have an order; there is a line for each value of the next
    one, and a panel for each combination of the others. Values without an order, if there are no others, have a line of
    the plot each, with points that nothing joins. Of a search, it shows the results in the order of the points.

    Parameters
    ----------
    study : SweepStudy
        The study.
    rows : sequence of Row
        The rows of its points; failed ones are left out.
    measure : str
        The result, one of `MEASURES`.
    """
    shown = MEASURES[measure]
    if study.search is not None:
        return _search_figure(study, rows, shown)
    names = [name for name, values in study.axes.items() if len(values) > 1] or list(study.axes)
    across = next((name for name in names if is_ordered(name, study.axes[name])), names[0])
    others = [name for name in names if name != across]
    line = others[0] if others else None

    def title(row: Row) -> str:
        return study.label(row, others[1:])

    panels = list(dict.fromkeys(map(title, rows)))
    notes = [_caption(study), *_left_out(study, rows, line, len(panels))]
    panels = panels[:_MOST_PANELS]
    plot = _Plot(study, rows, shown, across, line)
    return plot.figure({panel: [row for row in rows if title(row) == panel] for panel in panels}, notes)


def _caption(study: SweepStudy) -> str:
    """Return what all points have in common: algorithm, graph, configuration and memory."""
    specs = [each.point.spec for each in study.points]
    parts = [{spec.algorithm for spec in specs}, {each.point.graph.label for each in study.points}]
    parts += [{spec.config_name for spec in specs}, {spec.memory_name for spec in specs}]
    words = ("{}", " of {}", " on {}", ", memory {}")
    text = "".join(form.format(*found) for form, found in zip(words, parts, strict=True) if len(found) == 1)
    return value_text(text.removeprefix(",").strip())


def _left_out(study: SweepStudy, rows: Sequence[Row], line: str | None, panels: int) -> list[str]:
    """Return sentences on what the plot does not show."""
    failed = sum(row["status"] != DONE for row in rows)
    lines = 0 if line is None else len(study.axes[line])
    notes = [f"{count_text(failed, 'point')} failed, and {'is' if failed == 1 else 'are'} left out"] if failed else []
    if lines > _MOST_LINES:
        notes.append(f"the first {_MOST_LINES} of {lines} values of {line}")
    if panels > _MOST_PANELS:
        notes.append(f"the first {_MOST_PANELS} of {panels} combinations of the others")
    return notes


def _unchanged(study: SweepStudy) -> tuple[set[str], str]:
    """Return the points on machine and memory as their presets have them, by digest, and their name in the legend.

    They are none where all points are, so that nothing sets them apart.
    """
    machines: dict[tuple[str, str], tuple[Any, Any]] = {}
    found: dict[str, str] = {}
    for each in study.points:
        spec = each.point.spec
        named = (str(spec.config), str(spec.memory))
        if named not in machines:
            own = resolved_configuration(spec.config, NO_OVERRIDES), resolved_profile(spec.memory, NO_OVERRIDES)
            machines[named] = (own[0], own[1].describe())
        if machines[named] == (spec.configuration, spec.profile.describe()):
            found[each.point.digest] = f"{value_text(Path(spec.config_name).name)}, unchanged"
    if len(found) == len({each.point.digest for each in study.points}):
        return set(), ""
    texts = set(found.values())
    return set(found), texts.pop() if len(texts) == 1 else "machine unchanged"


class _Plot:
    """Draws the panels of a plot."""

    def __init__(self, study: SweepStudy, rows: Sequence[Row], shown: Measure, across: str, line: str | None) -> None:
        self._study, self._shown, self._across, self._line = study, shown, across, line
        self._values = study.axes[across]
        self._lines = [None] if line is None else study.axes[line][:_MOST_LINES]
        self._joined = is_ordered(across, self._values)
        self._preset, self._preset_text = _unchanged(study)
        results = [self._result(row) for row in rows if row["status"] == DONE]
        self._log = is_wide(results)
        self._most = max(results, default=1.0)

    def _result(self, row: Row) -> float:
        return float(row[self._shown.column]) * self._shown.factor

    def figure(self, panels: Mapping[str, Sequence[Row]], notes: Sequence[str]) -> "Figure":
        """Return the figure of some panels, by their titles."""
        columns = 1 if len(panels) == 1 else 2
        width = 7.5 if columns == 1 else 11
        row = 4.2 if self._joined else 1.4 + 0.11 * len(self._values) * (2 + len(self._lines))
        lines = -(-len(panels) // columns)
        figure = new_figure(width=width, height=row * lines + 0.6)
        grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True).flatten()
        for axes in grid[len(panels) :]:
            axes.remove()
        for number, (axes, (title, rows)) in enumerate(zip(grid, panels.items(), strict=False)):
            axes.set_title("\n".join(textwrap.wrap(title, 60)), fontsize=9, parse_math=False)
            done = [row for row in rows if row["status"] == DONE]
            self._draw(axes, done, 0.8 * width / columns, first=number % columns == 0)
        title = "\n".join(textwrap.wrap(self._study.title, 12 * int(width)))
        about = "\n".join(textwrap.wrap("; ".join(notes), 14 * int(width)))
        figure.suptitle(f"{title}\n{about}", fontsize=10, parse_math=False)
        handles, labels = grid[0].get_legend_handles_labels()
        if labels:
            columns = min(max(int(width / (0.6 + _LETTER * max(map(len, labels)))), 1), len(labels))
            figure.set_figheight(figure.get_figheight() + 0.22 * (1 + -(-len(labels) // columns)))
            figure.legend(
                handles,
                labels,
                loc="outside lower center",
                ncols=columns,
                frameon=False,
                fontsize=9,
                title=self._line,
                title_fontsize=9,
            )
        return figure

    def _draw(self, axes: "Axes", rows: Sequence[Row], width: float, *, first: bool) -> None:
        """Draw a panel, the `first` one of its line or another; `width` is that of its axes in inches, roughly."""
        for place, value in enumerate(self._lines):
            own = [row for row in rows if self._line is None or row[self._line] == value]
            found = {row[self._across]: self._result(row) for row in own}
            results = [found.get(each, math.nan) for each in self._places()]
            name = None if self._line is None else self._study.labels[self._line][value]
            style = {"color": self._colour(place), "marker": MARKERS[place % len(MARKERS)], "label": name}
            if self._joined:
                axes.plot(self._places(), results, **style)
            else:
                axes.plot(results, self._shifted(place), linestyle="none", **style)
        self._ring(axes, rows)
        measured, other = (axes.yaxis, axes.xaxis) if self._joined else (axes.xaxis, axes.yaxis)
        measured.set_label_text(self._shown.label)
        limits = axes.set_ylim if self._joined else axes.set_xlim
        if self._log:
            log_axis(axes, "y" if self._joined else "x")
        else:
            limits(0, 1.08 * self._most)
            measured.set_major_formatter("{x:,g}")
        other.set_label_text(self._across, parse_math=False)
        axes.tick_params(labelbottom=True, labelleft=self._joined or first)
        if self._joined:
            axes.set_axisbelow(True)
            axes.grid(color="0.88")
            _number_ticks(axes, self._places(), width)
        else:
            row_axis(axes, [self._study.labels[self._across][value] for value in self._values])

    def _places(self) -> list[Any]:
        """Return the values in the order in which a line joins them."""
        return sorted(self._values) if self._joined else self._values

    def _shifted(self, place: int) -> list[float]:
        return row_places(len(self._values), place, len(self._lines))

    def _colour(self, place: int) -> Any:
        """Return the colour of a line; many lines have a scale of them."""
        if len(self._lines) <= len(_COLOURS):
            return _COLOURS[place]
        from matplotlib import colormaps

        return colormaps["viridis"](0.95 * place / (len(self._lines) - 1))

    def _ring(self, axes: "Axes", rows: Sequence[Row]) -> None:
        """Draw a ring around the points of the presets."""
        marked = [row for row in rows if row["point"] in self._preset]
        if self._line is not None:
            marked = [row for row in marked if row[self._line] in self._lines]
        results = [self._result(row) for row in marked]
        if self._joined:
            where = [row[self._across] for row in marked]
        else:
            lines = [0 if self._line is None else self._lines.index(row[self._line]) for row in marked]
            places = [self._values.index(row[self._across]) for row in marked]
            where = [self._shifted(line)[place] for line, place in zip(lines, places, strict=True)]
        style: dict[str, Any] = {"s": 140, "facecolors": "none", "edgecolors": BLACK, "linewidths": 1.3, "zorder": 3}
        if self._preset:
            axes.scatter(*((where, results) if self._joined else (results, where)), label=self._preset_text, **style)


def _number_ticks(axes: "Axes", values: Sequence[float], width: float) -> None:
    """Set the scale and the ticks of a horizontal axis of numbers: as many as have room for their labels."""
    log = is_logarithmic(values)
    if log:
        axes.set_xscale("log")
    places = [math.log(value) if log else value for value in values]
    scale = width / ((places[-1] - places[0]) or 1)
    labelled: list[int] = []
    end = -math.inf
    for number, value in enumerate(values):
        half = _LETTER * (len(f"{value:,}") + 2) / 2
        middle = scale * (places[number] - places[0])
        if middle - half >= end:
            labelled.append(number)
            end = middle + half
    axes.set_xticks([values[number] for number in labelled], [f"{values[number]:,}" for number in labelled])
    axes.set_xticks([value for number, value in enumerate(values) if number not in labelled], minor=True)
    axes.tick_params(axis="x", which="minor", labelbottom=False)


def _search_figure(study: SweepStudy, rows: Sequence[Row], shown: Measure) -> "Figure":
    """Return the plot of a search: the results in the order of the points, and the fewest cycles so far."""
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(width=7.5, height=4.6)
    axes = figure.subplots()
    done = [(number, row) for number, row in enumerate(rows, start=1) if row["status"] == DONE]
    kept = "within the budget" if study.search is not None and study.search.budget else "point"
    for within, colour, text in ((True, GREY, kept), (False, VERMILION, "over the budget")):
        own = [(number, row[shown.column] * shown.factor) for number, row in done if row["within_budget"] == within]
        if own:
            axes.plot(*zip(*own, strict=True), color=colour, marker="o", linestyle="none", label=text)
    if shown.column == "cycles":
        best = [math.nan if value is None else value for value in best_so_far(rows, "cycles")]
        axes.plot(range(1, len(rows) + 1), best, color=BLUE, drawstyle="steps-post", label="best so far")
    axes.set(xlabel="points, in the order in which they were chosen", ylabel=shown.label, axisbelow=True)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.grid(color="0.88")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    title = "\n".join(textwrap.wrap(study.title, 90))
    figure.suptitle(f"{title}\n{_caption(study)}", fontsize=10, parse_math=False)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure
