"""Elements shared by the charts of a report: style, time axes with marked levels, heat maps with a selector."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from cyscc.host.analysis.report.activity import Activity, Timeline, key_title
from cyscc.host.analysis.roofline.limits import CROSSBAR
from cyscc.host.answer.colours import ARRAY_COLOURS, CAUSE_COLOURS, PHASE_COLOURS
from cyscc.host.record.arrow import Integers, numbers
from cyscc.host.record.tables import PHASES
from cyscc.sim.observation.causes import CAUSES

_TITLES = {cause.name: cause.title for cause in CAUSES}
COLOURS = {**CAUSE_COLOURS, **ARRAY_COLOURS, **PHASE_COLOURS}
"""Colour of each cause, array and phase."""

_FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
PAPER, INK, GRID = "white", "#23272e", "#e4e6ea"
"""Colours of the background, of text and of the grid."""
EDGE = {"width": 0.3, "color": "#6b7078"}
"""Line around bars."""
_AXIS, _FRAME, _MARK = "#9aa0a8", "#c3c8cf", "#3a3f47"
DARK = {
    PAPER: "#1b1f25",
    INK: "#d5d9df",
    "black": "#eceef1",
    "#000000": "#eceef1",
    EDGE["color"]: "#a4aab2",
    GRID: "#383e47",
    _AXIS: "#7d848e",
    _FRAME: "#525963",
    _MARK: "#c8cdd4",
    CROSSBAR.colour: "#c96f4e",
}
"""Colours on a dark page, by those on a light one: neutral ones, and a line too dark for it. Others are the same."""

_MARGIN = {"l": 112, "r": 104, "t": 14, "b": 48}
"""Margins of all charts: equal, so that their time axes are aligned; the right one has room for a colour scale."""
_HEAD = 44
"""Height above a chart with a selector or a strip of phases, in pixels."""
NARROWEST = 516
"""Width of a chart's axis, in pixels, at which its labels must have room: that on a page of 800 pixels."""
_LETTER, _LINE = 6.6, 14
"""Width of a letter and height of a line of a label, in pixels: those of a wide font."""
_SMALL = 10 / 12
"""Size of small labels, such as rotated ones, as a share of the others'."""
_TEMPLATE = go.layout.Template(
    layout={
        "font": {"family": _FONT, "size": 12, "color": INK},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "margin": _MARGIN,
        "hoverlabel": {"font": {"family": _FONT, "size": 12}, "namelength": -1},
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "xref": "container",
            "x": 0.01,
            "font": {"size": 11},
            "traceorder": "normal",
        },
        "xaxis": {
            "gridcolor": GRID,
            "zeroline": False,
            "linecolor": _AXIS,
            "ticks": "outside",
            "ticklen": 4,
            "title": {"standoff": 6},
            "automargin": "height",
        },
        "yaxis": {
            "gridcolor": GRID,
            "zeroline": False,
            "linecolor": _AXIS,
            "automargin": False,
            "ticklabelstandoff": 3,
            "title": {"standoff": 8},
        },
        "bargap": 0.15,
    }
)
_PARTIAL = "not complete"
"""Label of the end of an interrupted run, whose last instruction is not in the record."""
_ON_PHASES = "#101010"
"""Colour of text on the colours of phases."""
_LEGEND_LINE, _LEGEND_ENTRIES = 19, 5
"""Height of a line of a legend, in pixels, and its entries."""
_SEVERAL = "#b4bac2"
"""Colour of several phases in the strip."""
_STRIP, _GAP = 16, 9
"""Height of the strip of phases and of the gap below it, in pixels."""
_MOST_LINES = 60
_FELT = 0.005
"""Least share of a run with which an instruction's beginning is marked, if there are too many to mark all, and least
distance of two marks."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart of the report.

    Parameters
    ----------
    name : str
        Identifier of the chart within the page.
    title, about : str
        Heading; description of the chart and how to read it.
    figure : Figure
        The chart.
    time_of : str
        Name of the group of charts that share a time axis, so that zooming into one zooms into all; empty for none.
    points : tuple of str
        Point of the run at each position of a bar chart's axis, in the syntax of `cyscc replay`.
    """

    name: str
    title: str
    about: str
    figure: go.Figure
    time_of: str = ""
    points: tuple[str, ...] = ()

    def of_run(self, run: str) -> Self:
        """Return a copy of the chart that is labelled with a run, for reports on several runs."""
        return replace(self, name=f"{run}-{self.name}", time_of=run if self.time_of else "")


def part_title(part: str) -> str:
    """Return the display name of a cause, an array or a phase."""
    return _TITLES.get(part, part)


def new_figure(*, height: int, x: str = "", y: str = "", **layout: Any) -> go.Figure:
    """Return an empty figure with titled axes.

    Parameters
    ----------
    height : int
        Height in pixels.
    x, y : str
        Titles of the axes.
    **layout
        Further layout settings of plotly.
    """
    figure = go.Figure()
    figure.update_layout({"template": _TEMPLATE, "height": height, "hovermode": "closest", **layout})
    figure.update_xaxes(title_text=x)
    figure.update_yaxes(title_text=y)
    return figure


def logarithmic(axis: Any, low: float, high: float) -> None:
    """Make an axis logarithmic, with the full numbers at its ticks: the more of each decade, the fewer these are."""
    # In single precision, processors differ in the logarithm of a power of ten.
    low, high = float(low), float(high)
    exponents = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 2)
    decades = np.log10(high / low)
    digits = range(1, 10) if decades < 1 else (1, 2, 5) if decades < 4 else (1,)
    ticks = [digit * 10.0**exponent for exponent in exponents for digit in digits]
    axis(type="log", tickmode="array", tickvals=ticks, ticktext=[f"{tick:,.10g}" for tick in ticks])


def choice(figure: go.Figure, options: Mapping[str, Sequence[int]], *, updates: Sequence[Any] = ()) -> None:
    """Add a selector of the traces to show.

    Parameters
    ----------
    figure : Figure
        The figure; the first option's traces are shown.
    options : mapping of str to sequence of int
        The options, each with the indices of its traces. Traces that belong to no option are always shown.
    updates : sequence of dict, optional
        Layout update of each option.
    """
    chosen = {number for own in options.values() for number in own}
    buttons = []
    for place, (label, own) in enumerate(options.items()):
        visible = [trace not in chosen or trace in own for trace in range(len(figure.data))]
        if not place:
            for trace, shown in zip(figure.data, visible, strict=True):
                trace.visible = shown
        changes = updates[place] if updates else {}
        buttons.append({"label": label, "method": "update", "args": [{"visible": visible}, changes]})
    few = len(buttons) <= 4
    figure.update_layout(
        margin={"t": _HEAD},
        updatemenus=[
            {
                "type": "buttons" if few else "dropdown",
                "direction": "right" if few else "down",
                "buttons": buttons,
                "x": 0,
                "xanchor": "left",
                "y": 1,
                "yanchor": "bottom",
                "pad": {"b": 6},
                "bgcolor": PAPER,
                "bordercolor": _FRAME,
                "font": {"size": 11},
                "showactive": True,
            }
        ],
    )


def over_time(activity: Activity, *, height: int, y: str, entries: int = 0, **layout: Any) -> go.Figure:
    """Return an empty figure over the cycles of a run, with a strip of phases and a line at each level's beginning.

    Parameters
    ----------
    activity : Activity
        Activity of the kernels.
    height : int
        Height in pixels.
    y : str
        Title of the vertical axis.
    entries : int
        Number of entries that its legend will have.
    **layout
        Further layout settings of plotly.
    """
    time, phase = activity.time, activity.of_instructions("phase")
    figure = new_figure(height=height, x="cycle", y=y, **layout)
    first, last = _shown(activity)
    codes = np.where(first < 0, np.nan, phase[first].astype(float) if phase.size else np.nan)
    # A column of many instructions has the colour of a phase only if it is that of all of them.
    changes = np.concatenate([[0], np.cumsum(np.diff(phase) != 0)]) if phase.size else phase
    mixed = (last - first > 1) & (changes[last] > changes[first]) if phase.size else first > 0
    codes[mixed] = len(PHASES)
    titles = [key_title(key) for key in activity.keys]
    none = "no instruction" if activity.record.interrupted is None else f"no instruction, or {_PARTIAL} in the record"
    texts = [_strip_text(titles, int(low), int(high)) or none for low, high in zip(first, last, strict=True)]
    colours = {name: PHASE_COLOURS[name] for name in PHASES} | {"several phases": _SEVERAL}
    steps = len(colours)
    scale = [
        [place / steps, colour] for number, colour in enumerate(colours.values()) for place in (number, number + 1)
    ]
    figure.add_heatmap(
        z=codes[None, :].astype(np.float32),
        x0=time.width / 2,
        dx=time.width,
        y=["phase"],
        text=[texts],
        hovertemplate="%{text}<extra></extra>",
        colorscale=scale,
        zmin=-0.5,
        zmax=steps - 0.5,
        showscale=False,
        yaxis="y2",
    )
    inside = height - _HEAD - _MARGIN["b"] - _LEGEND_LINE * -(-entries // _LEGEND_ENTRIES)
    shown = {*phase.tolist(), *codes[mixed].astype(int).tolist()}
    key = "   ".join(
        f'<span style="color: {colour}">\u25a0</span> {name}'
        for number, (name, colour) in enumerate(colours.items())
        if number in shown
    )
    figure.update_layout(
        margin={"t": _HEAD},
        xaxis={
            "range": [0, time.cycles],
            "anchor": "y",
            "hoverformat": ",d",
            "unifiedhovertitle": {"text": "cycle %{x:,d}"},
        },
        yaxis={"domain": [0, 1 - (_STRIP + _GAP) / inside]},
        yaxis2={
            "domain": [1 - _STRIP / inside, 1],
            "fixedrange": True,
            "showgrid": False,
            "ticks": "",
            "tickfont": {"size": 10},
        },
        annotations=[
            {
                "text": key,
                "xref": "paper",
                "x": 1,
                "xanchor": "right",
                "yref": "paper",
                "y": 1,
                "yanchor": "bottom",
                "yshift": 2,
                "showarrow": False,
                "font": {"size": 11},
            },
            *(
                {
                    "text": title,
                    "x": middle,
                    "yref": "y2",
                    "y": 0,
                    "showarrow": False,
                    "font": {"size": 10, "color": INK if title == _PARTIAL else _ON_PHASES},
                }
                for middle, title in strip_labels(activity)
            ),
        ],
        shapes=[
            {
                "type": "line",
                "x0": cycle,
                "x1": cycle,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": _MARK, "width": 0.7, "dash": "dot"},
                "layer": "above",
            }
            for cycle in _marked(activity)
        ],
    )
    return figure


def strip_labels(activity: Activity) -> list[tuple[int, str]]:
    """Return the labels in the strip of phases, each with its middle cycle: of levels, else phases, else iterations.

    Those that have no room are left out.
    """
    keys, starts = activity.keys, activity.of_instructions("start")
    ends = starts + activity.of_instructions("cycles")
    labelled = np.zeros(len(keys), bool)
    found = []
    for title_of in (
        key_title,
        lambda key: key_title(key._replace(level=-1)),
        lambda key: f"iteration {key.iteration}",
    ):
        titles = [title_of(key) for key in keys]
        firsts = [place for place in range(len(keys)) if not place or titles[place] != titles[place - 1]]
        for first, end in zip(firsts, [*firsts[1:], len(keys)], strict=True):
            width = NARROWEST * int(ends[end - 1] - starts[first]) / max(activity.time.cycles, 1)
            if (
                width >= _room(titles[first])
                and (keys[first].iteration or title_of is key_title)
                and not labelled[first:end].any()
            ):
                labelled[first:end] = True
                found.append((int(starts[first] + ends[end - 1]) // 2, titles[first]))
    rest = activity.time.cycles - int(ends.max(initial=0))
    if activity.record.interrupted is not None and NARROWEST * rest / max(activity.time.cycles, 1) >= _room(_PARTIAL):
        found.append((activity.time.cycles - rest // 2, _PARTIAL))
    return sorted(found)


def _room(label: str) -> float:
    """Return the width of a label in the strip, in pixels."""
    return (len(label) + 1) * _LETTER * _SMALL


def _shown(activity: Activity) -> tuple[Integers, Integers]:
    """Return the first and the last instruction that overlaps each column; -1 if there is none."""
    pairs = activity.record.overlaps
    place, column = activity.places(numbers(pairs["instruction"])), activity.time.at(numbers(pairs["cycle"]))
    first, last = np.full((2, activity.time.columns), -1)
    np.maximum.at(last, column, place)
    ran = place >= 0
    first[column[ran][::-1]] = place[ran][::-1]
    return first, last


def _strip_text(titles: Sequence[str], first: int, last: int) -> str:
    if first < 0:
        return ""
    return titles[first] if first == last else f"{titles[first]} to {titles[last]}"


def _marked(activity: Activity) -> list[int]:
    """Return the cycles of the levels' beginnings that get a line."""
    starts, cycles = (activity.of_instructions(name) for name in ("start", "cycles"))
    least = _FELT * activity.time.cycles
    worth = np.arange(cycles.size)
    if worth.size > _MOST_LINES:
        worth = np.flatnonzero(cycles >= least)
        worth = np.sort(worth[np.argsort(-cycles[worth], kind="stable")][:_MOST_LINES])
    marked: list[int] = []
    for start in starts[worth].tolist():
        if not marked or start - marked[-1] >= least:
            marked.append(start)
    return marked


def ends(time: Timeline, values: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the points of a line over time: the middles of the columns, and the ends of the run."""
    cycles = np.concatenate([[0], time.middles, [max(time.cycles - 1, 1)]])
    return {
        "x": cycles.astype(np.int32 if time.cycles < 2**31 else np.float64),
        "y": np.concatenate([values[:1], values, values[-1:]]).astype(np.float32),
    }


def line(
    figure: go.Figure,
    time: Timeline,
    values: npt.NDArray[Any],
    title: str,
    colour: str,
    *,
    form: str,
    width: float = 1.6,
    dash: str = "solid",
) -> None:
    """Add a line over time; `form` is the hover format of a value."""
    figure.add_scatter(
        **ends(time, values),
        name=title,
        mode="lines",
        line={"width": width, "color": colour, "dash": dash},
        hovertemplate=form,
    )


def _shown_parts(
    parts: Mapping[str, Sequence[float] | npt.NDArray[Any]], colours: Mapping[str, str]
) -> Iterator[tuple[str, str, npt.NDArray[np.float32]]]:
    """Yield title, colour and values of each part that is not zero everywhere."""
    for part, values in parts.items():
        if np.any(values):
            yield part_title(part), colours[part], np.asarray(values, np.float32)


def bar_rows(
    figure: go.Figure,
    titles: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    *,
    customdata: Callable[[npt.NDArray[np.float32]], Any] = lambda values: None,
    form: str,
) -> None:
    """Add horizontal stacked bars, with a trace for each cause that is not zero everywhere.

    Parameters
    ----------
    figure : Figure
        The figure.
    titles : sequence of str
        Labels of the rows.
    parts : mapping of str to sequence of float
        Values of each cause, one for each row, in the order of the stack.
    customdata : callable
        Function from a cause's values to the additional data that `form` shows.
    form : str
        Hover format of a value, which follows the cause's name, in the syntax of plotly's hover templates.
    """
    for title, colour, values in _shown_parts(parts, COLOURS):
        figure.add_bar(
            y=list(titles),
            x=values,
            customdata=customdata(values),
            orientation="h",
            name=title,
            marker={"color": colour, "line": EDGE},
            hovertemplate=form.replace("%{cause}", title),
        )
    figure.update_layout(barmode="stack")
    figure.update_yaxes(autorange="reversed", type="category")


def bars(
    figure: go.Figure,
    titles: Sequence[str | Sequence[str]],
    parts: Mapping[str, npt.NDArray[Any]],
    *,
    form: str,
    colours: Mapping[str, str] = COLOURS,
) -> None:
    """Add stacked bars, with a trace for each part that is not zero everywhere; `form` is the hover format."""
    for title, colour, values in _shown_parts(parts, colours):
        figure.add_bar(
            x=list(titles),
            y=values,
            name=title,
            marker={"color": colour, "line": EDGE},
            hovertemplate=f"%{{x}}<br>{title}: {form}<extra></extra>",
        )
    figure.update_layout(barmode="relative")
    name_places(figure, titles)


def points(
    figure: go.Figure, titles: Sequence[str], values: npt.NDArray[Any], name: str, *, form: str, **looks: Any
) -> None:
    """Add points over named places; `form` is the hover format, and `looks` are further settings of the trace."""
    figure.add_scatter(x=list(titles), y=values, name=name, hovertemplate=form, **{"mode": "markers", **looks})


def name_places(figure: go.Figure, titles: Sequence[str | Sequence[str]]) -> None:
    """Name the places of the horizontal axis: upright where all names have room, else rotated, in a higher figure.

    A library draws only as many of rotated names as have room.
    """
    if not isinstance(titles[0], str):
        outer, inner = titles
        figure.update_xaxes(type="multicategory", autotickangles=[0, 90])
        if len(inner) * _LETTER <= NARROWEST:
            figure.update_xaxes(dtick=1)
        widths = [len(each) * _LETTER for each in dict.fromkeys(outer)]
        if max(widths) * len(widths) > NARROWEST:
            height = figure.layout.height + int(max(widths) * _SMALL)
            figure.update_xaxes(tickfont={"size": 12 * _SMALL})
            figure.update_layout(height=height)
        return
    widths = [len(str(title)) * _LETTER for title in titles]
    if max(map(sum, pairwise([*widths, 0.0]))) / 2 <= NARROWEST / len(titles):
        figure.update_xaxes(type="category", tickangle=0)
        return
    figure.update_xaxes(type="category", tickangle=90, tickfont={"size": 12 * _SMALL})
    figure.update_layout(height=figure.layout.height + int(max(widths) * _SMALL))


def name_groups(
    figure: go.Figure, groups: Sequence[tuple[str, int]], axis: Literal["x", "y"], *, colour: str = PAPER
) -> None:
    """Name groups of places of an axis in their middle, and draw lines between them.

    Parameters
    ----------
    figure : Figure
        The figure; its axis has a category for each place.
    groups : sequence of (str, int)
        Name and size of each group, from the first place on.
    axis : str
        The axis.
    colour : str
        Colour of the lines.
    """
    ends = np.cumsum([size for _, size in groups])
    middles = [float(end - size / 2 - 0.5) for end, (_, size) in zip(ends, groups, strict=True)]
    names = {"tickmode": "array", "tickvals": middles, "ticktext": [name for name, _ in groups], "type": "category"}
    figure.update_layout({f"{axis}axis": {**names, "ticks": "", "tickangle": 0}})
    across = "y" if axis == "x" else "x"
    for end in ends[:-1].tolist():
        at = {
            f"{axis}0": end - 0.5,
            f"{axis}1": end - 0.5,
            f"{across}ref": f"{across} domain",
            f"{across}0": 0,
            f"{across}1": 1,
        }
        figure.add_shape(type="line", line={"color": colour, "width": 1.5}, **at)


def part_axes(figure: go.Figure, first: int) -> None:
    """Move the bars from the place `first` on to axes of their own at the right, whose scale is theirs."""
    for trace in list(figure.data):
        values = np.array(trace.y, np.float32)
        left, right = values.copy(), values.copy()
        left[first:] = right[:first] = np.nan
        copied = {name: trace[name] for name in ("x", "name", "marker", "hovertemplate")}
        figure.add_bar(y=right, xaxis="x2", yaxis="y2", showlegend=False, legendgroup=trace.name, **copied)
        trace.update(y=left, legendgroup=trace.name)
    count = len(figure.data[0].x)
    figure.update_layout(
        xaxis={"domain": [0, 0.84], "range": [-0.5, first - 0.5]},
        xaxis2={
            "domain": [0.87, 1],
            "range": [first - 0.5, count - 0.5],
            "type": "category",
            "anchor": "y2",
            "tickangle": 90,
            "tickfont": {"size": 12 * _SMALL},
        },
        yaxis2={"anchor": "x2", "side": "right", "title": {"text": "of the others together"}},
    )


def stack_over_time(figure: go.Figure, time: Timeline, parts: Mapping[str, npt.NDArray[Any]], *, form: str) -> None:
    """Add stacked areas over time, with a trace for each part that is not zero everywhere.

    `form` is the hover format of a value.
    """
    for title, colour, values in _shown_parts(parts, COLOURS):
        figure.add_scatter(
            **ends(time, values),
            name=title,
            stackgroup="all",
            mode="lines",
            line={"width": 0.4, "color": PAPER, "shape": "hvh"},
            fillcolor=colour,
            hovertemplate=f"{title}: {form}<extra></extra>",
        )
    figure.update_layout(hovermode="x unified")


class HeatMap(NamedTuple):
    """A heat map of rows over time."""

    values: npt.NDArray[Any]
    """Values, of shape (rows, columns of time), in the type in which they are stored."""
    hover: str
    """Hover format of a value, such as ``%{z} %``."""
    title: str
    """Title of the colour scale."""
    top: float | None
    """Value at the top of the colour scale, which says if there are larger ones; None for the largest value."""


def lapse(activity: Activity, rows: Sequence[str], maps: Mapping[str, HeatMap], *, height: int) -> go.Figure:
    """Return a figure with heat maps of the same rows over time, and a selector between them."""
    figure, time = over_time(activity, height=height, y=""), activity.time
    for values, hover, title, top in maps.values():
        largest = float(np.max(values, initial=0))
        top = max(largest, 1e-9) if top is None else top
        scale = {"title": {"text": title, "side": "right"}, "thickness": 12, "len": 0.9, "y": 0.48, "outlinewidth": 0}
        if largest > top:
            ticks = np.linspace(0, top, 6)
            texts = [f"{tick:,.3g}" for tick in ticks]
            scale |= {"tickvals": ticks.tolist(), "ticktext": [*texts[:-1], f"\u2265 {texts[-1]}"]}
        figure.add_heatmap(
            z=values,
            x0=time.width / 2,
            dx=time.width,
            y=list(rows),
            zmin=0,
            zmax=top,
            colorscale="Cividis",
            colorbar=scale,
            hovertemplate=f"%{{y}}<br>cycle %{{x:,}}<br>{hover}<extra></extra>",
            name=title,
        )
    choice(figure, {label: [number] for number, label in enumerate(maps, 1)})
    figure.update_layout(yaxis={"autorange": "reversed"})
    return figure
