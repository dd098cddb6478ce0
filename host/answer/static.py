"""Charts in files: figures of plotly as SVG, PNG or PDF, drawn by matplotlib, which needs no browser."""

import html
import io
import logging
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MultipleLocator, NullLocator, StrMethodFormatter

from cyscc.host.answer.charts import AXIS, DRAWN, GRID, INK, LETTER
from cyscc.host.output.files import figure_format, open_output

_DPI = 100
"""Pixels of a page for an inch."""
_POINTS = 72 / _DPI
_FINE = 200
"""Dots per inch of a PNG."""
_WIDTH, _NARROWEST, _HEIGHT = 1000, 300, 450
"""Width and height in pixels of a figure whose layout has none, and its least width."""
_FONT, _SMALL = 12, 10
"""Sizes of text in pixels: of axes and legends; of crowded labels."""
_LEGEND_ROW = 20
_SYMBOLS, _STEPS, _HATCHES = (DRAWN[name] for name in ("symbols", "steps", "patterns"))
_DASHES = {name: each if isinstance(each, str) else tuple(each) for name, each in DRAWN["dashes"].items()}
_LINES = ("line-ew", "line-ns")
_LINE_SYMBOL = 1.4
"""Length of a symbol that is a line, for each unit of its size."""
_TAG = re.compile(r"</?\w[^>]*>")


def options_of(figure: go.Figure) -> list[str]:
    """Return the options of a chart's selector; none if it has no selector."""
    return [_plain(button.label) for menu in figure.layout.updatemenus for button in menu.buttons]


def write(figure: go.Figure, path: str, **how: Any) -> None:
    """Write a chart in the format of the path's suffix; `how` is told as of `draw`.

    Raises
    ------
    ValueError
        As of `draw`.
    InputError
        The format is unknown, or the file could not be written.
    """
    form = figure_format(path)
    with open_output(path) as file:
        save(file, form, lambda: draw(figure, **how))


def svg(figure: go.Figure) -> str:
    """Return a chart as an element of a page."""
    file = io.BytesIO()
    save(file, "svg", lambda: draw(figure))
    return file.getvalue().decode().partition("?>")[2]


def save(file: Any, form: str, make: Callable[[], Figure]) -> None:
    """Write what is drawn to a file in a format, regardless of the user's settings of matplotlib."""
    # Where the user has no home, it warns of a temporary folder for its settings, which have no effect.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "cyscc", "svg.fonttype": "none"})
        # A graph's name may have letters that the font lacks; they are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        make().savefig(file, format=form, metadata={"CreationDate" if form == "pdf" else "Date": None})


def draw(figure: go.Figure, *, title: str = "", option: str = "", width: int | None = None) -> Figure:
    """Draw a chart by matplotlib.

    Parameters
    ----------
    figure : plotly Figure
        The chart: lines, areas, points, bars and heat maps in panels, as those of this program are.
    title : str
        Title above the chart; by default that of its layout.
    option : str
        Option of the chart's selector; by default the one that is shown.
    width : int, optional
        Width in pixels of `_DPI` to an inch; by default that of the layout, else `_WIDTH`.

    Raises
    ------
    ValueError
        The chart has no such option, or has traces of another kind; the width is too small.
    """
    if width is not None and width < _NARROWEST:
        raise ValueError(f"a figure has a width of {_NARROWEST} pixels at least, not {width}")
    if not isinstance(figure, go.Figure):
        raise ValueError(f"figure must be a figure of plotly, not {figure!r:.60}")
    for trace in figure.data:
        if trace.type not in ("bar", "heatmap", "scatter"):
            raise ValueError(f"a chart has lines, bars and heat maps, not {trace.type!r}")
    shown = option or next(iter(options_of(figure)), "")
    return _Drawing(
        _chosen(figure, option), title or figure.layout.title.text or "", shown, width or figure.layout.width or _WIDTH
    ).figure


def _chosen(figure: go.Figure, option: str) -> go.Figure:
    """Return the figure with an option chosen.

    Raises
    ------
    ValueError
        There is no such option.
    """
    if not option:
        return figure
    options = options_of(figure)
    if option not in options:
        there = f"there are {', '.join(options)}" if options else "it has no selector"
        raise ValueError(f"the chart has no option {option!r}: {there}")
    (menu,) = figure.layout.updatemenus
    visible, changes = menu.buttons[options.index(option)].args
    chosen = go.Figure(figure)
    for trace, shown in zip(chosen.data, visible["visible"], strict=True):
        trace.visible = shown
    for name, value in changes.items():
        chosen.layout[name] = value
    return chosen


def _plain(text: str | None) -> str:
    """Return a text of plotly, which may have tags, as matplotlib takes it."""
    text = _TAG.sub("", (text or "").replace("<br>", "\n"))
    return html.unescape(text).replace("$", r"\$")


def _colour(value: Any, otherwise: Any = "none") -> Any:
    """Return a colour, or a list of colours, of plotly as matplotlib takes it."""
    if value is None:
        return otherwise
    if not isinstance(value, str):
        return [_colour(each) for each in value]
    if match := re.fullmatch(r"rgba?\(([^)]*)\)", value):
        red, green, blue, *alpha = (float(part) for part in match[1].split(","))
        return (red / 255, green / 255, blue / 255, *alpha)
    return value


def _floats(values: Any) -> npt.NDArray[np.float64]:
    return np.array([math.nan if value is None else value for value in (() if values is None else values)], np.float64)


def _ends_of(domain: Any) -> tuple[float, float]:
    return (0.0, 1.0) if domain is None else (round(float(domain[0]), 6), round(float(domain[1]), 6))


class _Places:
    """Positions of an axis: numbers as they are, categories in the order in which they come."""

    def __init__(self, axis: Any) -> None:
        self.titles: list[str] = [_plain(str(each)) for each in axis.categoryarray or ()]
        self.is_category = axis.type == "category"

    def of(self, values: Any) -> npt.NDArray[np.float64]:
        """Return the positions of values; categories are added when they are new."""
        values = [] if values is None else list(values)
        if not (self.is_category or any(isinstance(value, str) for value in values)):
            return _floats(values)
        self.is_category = True
        texts = [_plain(str(value)) for value in values]
        known = {text: place for place, text in enumerate(self.titles)}
        for text in texts:
            known.setdefault(text, len(known))
        self.titles = list(known)
        return np.array([known[text] for text in texts], np.float64)

    def at(self, value: Any) -> float:
        """Return the position of a value of the layout: a category's by its name, or a number."""
        return float(self.of([value])[0]) if isinstance(value, str) else float(value)


class _Drawing:
    """The drawing of a chart: its panels, traces, axes and legend."""

    def __init__(self, figure: go.Figure, title: str, option: str, width: int) -> None:
        self._layout, self._width = figure.layout, width
        self._traces = [trace for trace in figure.data if trace.visible in (None, True)]
        pairs = dict.fromkeys([("x", "y"), *((trace.xaxis or "x", trace.yaxis or "y") for trace in self._traces)])
        self._axes = {name: self._layout[f"{name[0]}axis{name[1:]}"] for pair in pairs for name in pair}
        self._places = {name: _Places(axis) for name, axis in self._axes.items()}
        self._ends: dict[Any, Any] = {}
        self._legend: dict[str, Any] = {}
        names = list(dict.fromkeys(_plain(trace.name) for trace in self._traces if self._in_legend(trace)))
        longest = max(map(len, names), default=0)
        columns = max(1, min(len(names), int(width / (LETTER * longest + 46))))
        rows = -(-len(names) // columns)
        above = (24 * (1 + title.count("\n") + title.count("<br>")) if title else 0) + (20 if option else 0)
        height = (self._layout.height or _HEIGHT) + above + _LEGEND_ROW * max(0, rows - 1)
        self.figure = Figure(
            figsize=(width / _DPI, height / _DPI),
            dpi=_FINE,
            layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, hspace=0.0, wspace=0.01),
        )
        self._panels = self._make_panels(list(pairs))
        for trace in self._traces:
            pair = trace.xaxis or "x", trace.yaxis or "y"
            draw_it = {"bar": self._add_bars, "heatmap": self._add_heat_map, "scatter": self._add_scatter}[trace.type]
            handle = draw_it(trace, self._panels[pair], self._places[pair[0]], self._places[pair[1]])
            if handle is not None and self._in_legend(trace):
                self._legend.setdefault(_plain(trace.name), handle)
        for shape in self._layout.shapes:
            self._add_shape(shape)
        for name, axes in self._panels.items():
            self._finish(axes, *name)
        for note in self._layout.annotations:
            self._annotate(note)
        if option:
            self._top().set_title(f"shown: {option}", loc="left", fontsize=_FONT * _POINTS, color=INK)
        if title:
            self.figure.suptitle(_plain(title), fontsize=1.25 * _FONT * _POINTS, color=INK, fontweight="bold")
        if self._legend:
            looks: dict[str, Any] = {"frameon": False, "fontsize": _FONT * _POINTS, "handlelength": 1.8}
            entries = list(self._legend.values()), list(self._legend)
            self.figure.legend(*entries, loc="outside lower left", ncols=columns, columnspacing=1.4, **looks)

    def _in_legend(self, trace: Any) -> bool:
        """Whether a trace has an entry in the legend, as plotly decides it."""
        shown = [each for each in self._traces if each.type != "heatmap"]
        wanted = len(shown) > 1 if self._layout.showlegend is None else self._layout.showlegend
        return trace in shown and trace.showlegend is not False and bool(trace.name) and wanted

    def _make_panels(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Axes]:
        """Return axes for each pair of axes that traces use, side by side and above each other."""
        domains = {name: _ends_of(axis.domain) for name, axis in self._axes.items()}
        columns = sorted({domains[x] for x, _ in pairs})
        rows = sorted({domains[y] for _, y in pairs}, reverse=True)
        sizes = {"width_ratios": [end - begin for begin, end in columns]}
        sizes["height_ratios"] = [end - begin for begin, end in rows]
        grid = self.figure.add_gridspec(len(rows), len(columns), **sizes)
        panels: dict[tuple[str, str], Axes] = {}
        for x, y in pairs:
            one, other = self._axes[x].matches or x, self._axes[y].matches or y
            shared = {
                "sharex": next(
                    (panels[each] for each in panels if one in (each[0], self._axes[each[0]].matches)), None
                ),
                "sharey": next(
                    (panels[each] for each in panels if other in (each[1], self._axes[each[1]].matches)), None
                ),
            }
            place = grid[rows.index(domains[y]), columns.index(domains[x])]
            panels[x, y] = self.figure.add_subplot(place, **shared)
        return panels

    def _add_scatter(self, trace: Any, axes: Axes, across: _Places, up: _Places) -> Any:
        x, y = across.of(trace.x), up.of(trace.y)
        step, mode = _STEPS.get(trace.line.shape or ""), trace.mode or "lines"
        width = (2.0 if trace.line.width is None else trace.line.width) * _POINTS
        if trace.stackgroup:
            base = self._ends.get(axes, np.zeros(x.size))
            self._ends[axes] = base + np.nan_to_num(y)
            area: dict[str, Any] = {"facecolor": _colour(trace.fillcolor), "edgecolor": _colour(trace.line.color)}
            return axes.fill_between(x, base, self._ends[axes], step="mid" if step else None, linewidth=width, **area)
        for which in "xy":
            self._add_errors(trace, axes, which, x, y)
        marker = trace.marker
        name = (marker.symbol or "circle") if "markers" in mode else ""
        colour = _colour(marker.color or trace.line.color, "C0")
        size = np.asarray(6 if marker.size is None else marker.size, np.float64)
        hollow, is_line = name.endswith("-open"), name in _LINES
        edge = colour if hollow or is_line else _colour(marker.line.color)
        looks: dict[str, Any] = {"marker": _SYMBOLS.get(name.removesuffix("-open"), "o") if name else "", "zorder": 3}
        rim = max((marker.line.width or 0) * _POINTS, 1.0 if hollow else 0.0)
        if "text" in mode:
            for at, own, text in zip(zip(x, y, strict=True), np.broadcast_to(size, x.shape), trace.text, strict=True):
                self._write_beside(axes, at, text, trace.textposition or "", by=3 + own / 2)
        if size.ndim:
            return axes.scatter(x, y, s=(size * _POINTS) ** 2, c=colour, edgecolors=edge, linewidths=rim, **looks)
        (handle,) = axes.plot(
            x,
            y,
            color=_colour(trace.line.color, colour),
            linewidth=width,
            linestyle=_DASHES.get(trace.line.dash or "solid", "-") if "lines" in mode else "",
            drawstyle=step or "default",
            markersize=float(size) * _POINTS * (_LINE_SYMBOL if is_line else 1),
            markerfacecolor="none" if hollow else colour,
            markeredgecolor=edge,
            markeredgewidth=rim,
            **looks,
        )
        return handle

    @staticmethod
    def _add_errors(trace: Any, axes: Axes, which: str, x: Any, y: Any) -> None:
        errors = trace[f"error_{which}"]
        if errors.array is None:
            return
        below = errors.array if errors.arrayminus is None else errors.arrayminus
        ends = [_floats(below), _floats(errors.array)]
        looks: dict[str, Any] = {f"{which}err": ends, "ecolor": _colour(errors.color or trace.marker.color)}
        axes.errorbar(x, y, fmt="none", elinewidth=1.2, **looks)

    @staticmethod
    def _write_beside(axes: Axes, at: tuple[float, float], text: str, position: str, *, by: float = 4) -> None:
        """Write a text beside a point, so many pixels away."""
        by *= _POINTS
        shift = {"middle right": (by, 0), "bottom center": (0, -by), "top center": (0, by)}.get(position, (0, 0))
        sides: dict[str, Any] = {"ha": "left" if "right" in position else "center"}
        sides["va"] = "top" if "bottom" in position else "bottom" if "top" in position else "center"
        looks: dict[str, Any] = {"fontsize": _SMALL * _POINTS, "color": INK, "annotation_clip": False}
        axes.annotate(_plain(text), at, shift, textcoords="offset points", **sides, **looks)

    def _add_bars(self, trace: Any, axes: Axes, across: _Places, up: _Places) -> Any:
        lying = trace.orientation == "h"
        places = (up if lying else across).of(trace.y if lying else trace.x)
        lengths = _floats(trace.x if lying else trace.y)
        places, thick, begin = self._bar_places(trace, axes, places, lengths)
        bars = (axes.barh if lying else axes.bar)(
            places,
            lengths,
            thick,
            begin,
            color=_colour(trace.marker.color, "C0"),
            edgecolor=_colour(trace.marker.pattern.fgcolor or trace.marker.line.color),
            linewidth=(trace.marker.line.width or 0) * _POINTS,
            hatch=_HATCHES.get(trace.marker.pattern.shape or ""),
        )
        if trace.text is not None:
            for place, end, text in zip(places, np.nan_to_num(begin + lengths), trace.text, strict=True):
                at = (end, place) if lying else (place, end)
                self._write_beside(axes, at, text, "middle right" if lying else "top center")
        return bars

    def _bar_places(self, trace: Any, axes: Axes, places: Any, lengths: Any) -> tuple[Any, Any, Any]:
        """Return positions, widths and beginnings of bars, as the chart's mode arranges them."""
        mode, gap = self._layout.barmode or "group", self._layout.bargap
        thick = np.asarray(1 - (0.15 if gap is None else gap) if trace.width is None else trace.width, np.float64)
        if mode == "overlay":
            return places, thick, np.zeros(places.size)
        bars = [each for each in self._traces if each.type == "bar" and each.xaxis == trace.xaxis]
        groups = list(dict.fromkeys(each.offsetgroup or (each.name if mode == "group" else "") for each in bars))
        own = trace.offsetgroup or (trace.name if mode == "group" else "")
        places = places + thick * ((groups.index(own) + 0.5) / len(groups) - 0.5)
        begin = np.zeros(places.size)
        if mode != "group":
            for number, (place, length) in enumerate(zip(places.round(6), np.nan_to_num(lengths), strict=True)):
                key = (axes, place, length < 0)
                begin[number] = self._ends.get(key, 0.0)
                self._ends[key] = begin[number] + length
        return places, thick / len(groups), begin

    def _add_heat_map(self, trace: Any, axes: Axes, across: _Places, up: _Places) -> None:
        values = np.array(trace.z, np.float64)
        if not values.size:
            return
        rows = up.of(range(len(values)) if trace.y is None else trace.y)
        if trace.x is None:
            begin, step = float(trace.x0 or 0), float(trace.dx or 1)
        else:
            begin, step = float(across.of(trace.x)[0]), 1.0
        stops = [(float(place), _colour(colour)) for place, colour in trace.colorscale]
        image = axes.imshow(
            np.ma.masked_invalid(values),
            cmap=LinearSegmentedColormap.from_list("chart", stops, N=1024),
            vmin=trace.zmin,
            vmax=trace.zmax,
            extent=(
                begin - step / 2,
                begin + (values.shape[1] - 0.5) * step,
                float(rows.max()) + 0.5,
                float(rows.min()) - 0.5,
            ),
            aspect="auto",
            interpolation="none",
        )
        if trace.text is not None:
            middle = (float(trace.zmin) + float(trace.zmax)) / 2
            for (row, column), text in np.ndenumerate(np.array(trace.text)):
                colour = "white" if values[row, column] < middle else "black"
                looks: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": _SMALL * _POINTS, "color": colour}
                axes.text(begin + column * step, float(rows[row]), _plain(str(text)), **looks)
        if trace.showscale is not False:
            scale = self.figure.colorbar(image, ax=axes, location="bottom", shrink=0.3, anchor=(1.0, 0.0), aspect=30)
            scale.outline.set_visible(False)
            if trace.colorbar.tickvals is not None:
                scale.set_ticks(list(trace.colorbar.tickvals), labels=list(map(_plain, trace.colorbar.ticktext)))
            scale.set_label(_plain(trace.colorbar.title.text), fontsize=_SMALL * _POINTS, color=INK)
            scale.ax.tick_params(labelsize=_SMALL * _POINTS, colors=INK)

    def _finish(self, axes: Axes, across: str, up: str) -> None:
        """Set scales, limits, ticks and titles of a panel."""
        axes.set_axisbelow(True)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(AXIS)
        for name, its in ((across, axes.xaxis), (up, axes.yaxis)):
            axis, places = self._axes[name], self._places[name]
            self._scale(axes, name)
            its.label.set(text=_plain(axis.title.text), fontsize=_FONT * _POINTS, color=INK)
            its.set_tick_params(labelsize=_FONT * _POINTS, labelcolor=INK, color=AXIS)
            self._set_ticks(axes, name)
            if not places.is_category and axis.showgrid is not False and not axes.images:
                its.grid(color=GRID, linewidth=0.8)
        if self._axes[up].side == "right":
            axes.yaxis.tick_right()
        if self._axes[across].anchor not in (None, up):  # a panel above the one that has the axis
            axes.tick_params(axis="x", labelbottom=False, bottom=False)
            axes.xaxis.label.set_visible(False)
        if self._axes[up].ticks == "":
            axes.tick_params(axis="y", left=False)
            axes.spines[:].set_visible(False)

    def _scale(self, axes: Axes, name: str) -> None:
        """Set scale and limits of an axis."""
        axis, places = self._axes[name], self._places[name]
        is_x = name[0] == "x"
        if axis.type == "log":
            (axes.set_xscale if is_x else axes.set_yscale)("log", nonpositive="clip")
        limits: Callable[..., Any] = axes.set_xlim if is_x else axes.set_ylim
        if axis.range is not None:
            limits(*(10.0**end if axis.type == "log" else float(end) for end in axis.range))
        elif places.is_category and places.titles:
            limits(-0.5, len(places.titles) - 0.5)
        elif axis.rangemode == "tozero":
            limits(0, None)
        if axis.autorange == "reversed":
            (axes.xaxis if is_x else axes.yaxis).set_inverted(True)

    def _set_ticks(self, axes: Axes, name: str) -> None:
        """Set the ticks of an axis and their labels."""
        axis, places, is_x = self._axes[name], self._places[name], name[0] == "x"
        its = axes.xaxis if is_x else axes.yaxis
        if axis.tickvals is not None and axis.ticktext is not None:
            low, high = sorted(axes.get_xlim() if is_x else axes.get_ylim())
            marks = zip(map(places.at, axis.tickvals), map(_plain, axis.ticktext), strict=True)
            shown = [(place, text) for place, text in marks if low <= place <= high]
            its.set_ticks([place for place, _ in shown], labels=[text for _, text in shown])
            its.set_minor_locator(NullLocator())
        elif places.is_category:
            self._label_categories(axes, name)
        elif axis.type != "log":
            if axis.dtick:
                its.set_major_locator(MultipleLocator(axis.dtick))
            its.set_major_formatter(StrMethodFormatter("{x:.0%}" if axis.tickformat == ".0%" else "{x:,.10g}"))

    def _label_categories(self, axes: Axes, name: str) -> None:
        """Label the places of an axis, upright or turned, as many of them as have room."""
        titles, is_x = self._places[name].titles, name[0] == "x"
        first, last = _ends_of(self._axes[name].domain)
        size = (self._width * 0.86 if is_x else (self._layout.height or _HEIGHT) * 0.8) * (last - first)
        room = size / max(len(titles), 1)
        longest = max((len(line) for title in titles for line in title.split("\n")), default=0)
        turned = is_x and longest * LETTER > room - 6
        letters = _FONT if room > _FONT + 2 else _SMALL
        every = max(1, math.ceil((1.3 * letters if turned or not is_x else 1) / room))
        its = axes.xaxis if is_x else axes.yaxis
        its.set_ticks(range(0, len(titles), every), labels=titles[::every])
        its.set_tick_params(labelsize=letters * _POINTS, labelrotation=90 if turned else 0)

    def _add_shape(self, shape: Any) -> None:
        """Draw a line of the layout over the panels that it is about."""
        looks = {"color": _colour(shape.line.color, INK), "linewidth": (shape.line.width or 1) * _POINTS}
        looks["linestyle"] = _DASHES.get(shape.line.dash or "solid", "-")
        xref, yref = ((ref or name).split()[0] for ref, name in ((shape.xref, "x"), (shape.yref, "y")))
        for (across, up), axes in self._panels.items():
            if shape.x0 == shape.x1 and xref == across and yref in ("paper", up):
                axes.axvline(float(shape.x0), **looks)
            elif shape.y0 == shape.y1 and yref == up and xref in ("paper", across):
                axes.axhline(float(shape.y0), **looks)

    def _annotate(self, note: Any) -> None:
        """Write an annotation of the layout, such as the title of a panel."""
        across, up = (str(ref or name).removesuffix(" domain") for ref, name in ((note.xref, "x"), (note.yref, "y")))
        axes = next((axes for pair, axes in self._panels.items() if pair[1] == up), self._top())
        x, y = (
            float(value) if str(ref).endswith(("paper", "domain")) else self._places[name].at(value)
            for ref, name, value in ((note.xref, across, note.x), (note.yref, up, note.y))
        )
        refs = ["axes fraction" if str(ref).endswith(("paper", "domain")) else "data" for ref in (note.xref, note.yref)]
        axes.annotate(
            _plain(note.text),
            (x, y),
            (0, 3 if note.yanchor == "bottom" else 0),
            xycoords=(refs[0], refs[1]),
            textcoords="offset points",
            ha=note.xanchor if note.xanchor in ("left", "right") else "center",
            va=note.yanchor if note.yanchor in ("bottom", "top") else "center",
            fontsize=(note.font.size or _FONT) * _POINTS,
            color=_colour(note.font.color, INK),
        )

    def _top(self) -> Axes:
        """Return the panel at the top."""
        return self._panels[max(self._panels, key=lambda pair: _ends_of(self._axes[pair[1]].domain)[1])]
