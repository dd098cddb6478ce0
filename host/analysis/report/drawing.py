"""Charts drawn by matplotlib, as SVG, PNG or PDF: pages draw them in a browser, which files of figures do without."""

import html
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 100
"""Pixels of a page for an inch."""
_POINTS = 72 / _DPI
_FINE = 200
"""Dots per inch of a PNG."""
_KINDS = ("bar", "heatmap", "scatter")
_WIDTH = 1000
"""Width of a figure in pixels, unless its layout has one."""
_NARROWEST = 300
_HEIGHT = 450
"""Height of a figure in pixels, unless its layout has one."""
_FONT, _SMALL = 12, 10
"""Sizes of text in pixels: of axes and legends; of crowded labels."""
_LEGEND_ROW = 20
_LETTER = 0.6
"""Width of a letter as a share of its size."""
_GRID, _INK = "#e4e6ea", "#2b2f36"
_BAR_GAP = 0.15
"""Free share of the place of a bar, by default."""
_DASHES = {
    "solid": "-",
    "dot": ":",
    "dash": "--",
    "dashdot": "-.",
    "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 2, 3)),
}
_SYMBOLS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "cross": "P",
    "x": "X",
    "line-ew": "_",
    "line-ns": "|",
}
_LINE_SYMBOL = 1.4
"""Length of a symbol that is a line, for each unit of its size."""
_STEPS = {"hv": "steps-post", "vh": "steps-pre", "hvh": "steps-mid"}
_FORMAT = re.compile(r"%\{([xyz])(?::([^}]*))?\}")
_SPAN = re.compile(r'<span style="color: ([^"]+)">(.*?)</span>')
_TAG = re.compile(r"</?\w[^>]*>")


def options_of(figure: go.Figure) -> list[str]:
    """Return the options of a chart's selector; none if it has no selector."""
    return [_plain(button.label) for menu in figure.layout.updatemenus for button in menu.buttons]


def draw_chart(figure: go.Figure, *, title: str = "", option: str = "", width: int | None = None) -> "Figure":
    """Draw a chart of a page by matplotlib.

    Parameters
    ----------
    figure : plotly Figure
        The chart: lines, areas, bars and heat maps, as those of pages are.
    title : str
        Title above the chart.
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
        if trace.type not in _KINDS:
            raise ValueError(f"a chart has lines, bars and heat maps, not {trace.type!r}")
    shown = option or next(iter(options_of(figure)), "")
    width = width or figure.layout.width or _WIDTH
    return _Drawing(_chosen(figure, option), title=title, option=shown, width=width).figure


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


def literal(text: str) -> str:
    """Return a text for a chart, in whose texts plotly reads tags."""
    return html.escape(text, quote=False)


def _plain(text: str | None) -> str:
    """Return a text of plotly, which may have tags, as matplotlib takes it."""
    text = _TAG.sub("", (text or "").replace("<br>", "\n"))
    return html.unescape(text).replace("$", r"\$")


def _colour(value: Any, otherwise: str = "none") -> Any:
    """Return a colour, or a list of colours, of plotly as matplotlib takes it."""
    if value is None:
        return otherwise
    if not isinstance(value, str):
        return [_colour(each) for each in value]
    if match := re.fullmatch(r"rgba?\(([^)]*)\)", value):
        red, green, blue, *alpha = (float(part) for part in match[1].split(","))
        return (red / 255, green / 255, blue / 255, *alpha)
    return value


def _coloured(text: str) -> list[tuple[str, str]]:
    """Return the parts of a text, each with its colour; empty for the usual one."""
    parts, end = [], 0
    for span in _SPAN.finditer(text):
        parts += [("", text[end : span.start()]), (span[1], span[2])]
        end = span.end()
    return [part for part in (*parts, ("", text[end:])) if part[1]]


class _Places:
    """Positions of an axis: numbers as they are, categories in the order in which they come."""

    def __init__(self, axis: Any) -> None:
        self.titles: list[str] = [_plain(str(each)) for each in axis.categoryarray or ()]
        self.outer: list[str] = []
        self.is_category = axis.type in ("category", "multicategory")

    def of(self, values: Any) -> npt.NDArray[np.float64]:
        """Return the positions of values; categories are added when they are new."""
        values = list(values)
        if len(values) == 2 and not isinstance(values[0], str | int | float | np.number):
            return self._of_pairs(*values)
        if not (self.is_category or any(isinstance(value, str) for value in values)):
            return np.array(values, np.float64)
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

    def _of_pairs(self, outer: Sequence[str], inner: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the positions of categories of two levels, which stand as they come."""
        self.is_category = True
        self.outer, self.titles = ([_plain(str(each)) for each in level] for level in (outer, inner))
        return np.arange(len(self.titles), dtype=np.float64)


class _Drawing:
    """The drawing of a chart: its panels, traces, axes and legend."""

    def __init__(self, figure: go.Figure, *, title: str, option: str, width: int) -> None:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        self._layout = figure.layout
        self._traces = [trace for trace in figure.data if trace.visible in (None, True)]
        self._title, self._option = title, option
        self._legend: dict[str, Any] = {}
        self._names = {name: self._layout[f"{name[0]}axis{name[1:]}"] for name in self._axis_names()}
        self._places = {name: _Places(axis) for name, axis in self._names.items()}
        self._ends: dict[Any, npt.NDArray[np.float64]] = {}
        self._width, height = width, self._layout.height or _HEIGHT
        shown = [trace for trace in self._traces if self._in_legend(trace)]
        self._columns = self._legend_columns([_plain(trace.name) for trace in shown], width)
        rows = -(-len(shown) // self._columns) if shown else 0
        above = (24 if title else 0) + (20 if option else 0)
        self.figure = Figure(
            figsize=(width / _DPI, (height + above + _LEGEND_ROW * max(0, rows - 1)) / _DPI),
            dpi=_FINE,
            layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, hspace=0.0, wspace=0.01),
        )
        self._panels = self._make_panels()
        for trace in self._traces:
            self._add(trace)
        for name, axes in self._panels.items():
            self._finish(axes, *name)
        for shape in self._layout.shapes:
            self._add_shape(shape)
        for note in self._layout.annotations:
            self._annotate(note)
        self._head()
        if self._legend:
            self.figure.legend(
                list(self._legend.values()),
                list(self._legend),
                loc="outside lower left",
                ncols=self._columns,
                frameon=False,
                fontsize=_FONT * _POINTS,
                handlelength=1.4,
                columnspacing=1.4,
            )

    def _axis_names(self) -> list[str]:
        found = {"x": None, "y": None}
        for trace in self._traces:
            found |= {trace.xaxis or "x": None, trace.yaxis or "y": None}
        return list(found)

    def _in_legend(self, trace: Any) -> bool:
        """Whether a trace has an entry in the legend, as plotly decides it."""
        if trace.type == "heatmap" or trace.showlegend is False or self._layout.showlegend is False or not trace.name:
            return False
        others = [each for each in self._traces if each.type != "heatmap"]
        return len(others) > 1 or bool(self._layout.showlegend or trace.showlegend)

    @staticmethod
    def _legend_columns(names: Sequence[str], width: float) -> int:
        """Return how many columns of a legend fit into a width."""
        longest = max((len(name) for name in names), default=0)
        return max(1, min(len(names), int(width / (_LETTER * _FONT * longest + 46))))

    def _make_panels(self) -> "dict[tuple[str, str], Axes]":
        """Return axes for each pair of axes that traces use: side by side and above each other, or overlaid."""
        pairs = list(dict.fromkeys((trace.xaxis or "x", trace.yaxis or "y") for trace in self._traces))
        if ("x", "y") not in pairs:
            pairs.insert(0, ("x", "y"))
        own = [pair for pair in pairs if not self._names[pair[1]].overlaying]
        across, down = ([self._domain(pair[place]) for pair in own] for place in (0, 1))
        columns, rows = sorted(set(across)), sorted(set(down), reverse=True)
        scaled = [trace for trace in self._traces if trace.type == "heatmap" and trace.showscale is not False]
        widths = [end - begin for begin, end in columns] + [0.014] * bool(scaled)
        grid = self.figure.add_gridspec(
            len(rows), len(widths), width_ratios=widths, height_ratios=[end - begin for begin, end in rows]
        )
        panels: dict[tuple[str, str], Axes] = {}
        for pair, x, y in zip(own, across, down, strict=True):
            shared = next((panels[each] for each in panels if each[0] == pair[0]), None)
            panels[pair] = self.figure.add_subplot(grid[rows.index(y), columns.index(x)], sharex=shared)
        for pair in pairs:
            if pair not in panels:
                panels[pair] = panels["x", self._names[pair[1]].overlaying].twinx()
        self._scale_axes = self.figure.add_subplot(grid[rows.index(self._domain("y")), -1]) if scaled else None
        return panels

    def _domain(self, name: str) -> tuple[float, float]:
        domain = self._names[name].domain
        return (0.0, 1.0) if domain is None else (float(domain[0]), float(domain[1]))

    def _add(self, trace: Any) -> None:
        """Draw a trace."""
        pair = trace.xaxis or "x", trace.yaxis or "y"
        draw = {"bar": self._add_bars, "heatmap": self._add_heat_map, "scatter": self._add_scatter}[trace.type]
        handle = draw(trace, self._panels[pair], self._places[pair[0]], self._places[pair[1]])
        if handle is not None and self._in_legend(trace):
            self._legend.setdefault(_plain(trace.name), handle)

    def _add_scatter(self, trace: Any, axes: "Axes", across: _Places, up: _Places) -> Any:
        x = across.of(() if trace.x is None else trace.x)
        y = up.of([math.nan if value is None else value for value in (() if trace.y is None else trace.y)])
        step = _STEPS.get(trace.line.shape or "")
        handle: Any = None
        if trace.stackgroup:
            base = self._ends.get(key := (id(axes), trace.stackgroup), np.zeros(x.size))
            self._ends[key] = base + np.nan_to_num(y)
            return axes.fill_between(
                x,
                base,
                self._ends[key],
                step="mid" if step else None,
                facecolor=_colour(trace.fillcolor),
                edgecolor=_colour(trace.line.color),
                linewidth=(trace.line.width or 0) * _POINTS,
            )
        if trace.fill == "tozeroy":
            handle = axes.fill_between(x, y, step="mid" if step else None, facecolor=_colour(trace.fillcolor), lw=0)
        mode = trace.mode or "lines"
        width = 2.0 if trace.line.width is None else trace.line.width
        if "lines" in mode and width:
            (line,) = axes.plot(
                x,
                y,
                color=_colour(trace.line.color or trace.marker.color, "C0"),
                linewidth=width * _POINTS,
                linestyle=_DASHES.get(trace.line.dash or "solid", "-"),
                drawstyle=step or "default",
            )
            handle = handle or line
        if "markers" in mode:
            points = self._add_markers(trace, axes, x, y)
            handle = handle or points
        return handle

    @staticmethod
    def _add_markers(trace: Any, axes: "Axes", x: Any, y: Any) -> Any:
        from matplotlib.lines import Line2D

        marker = trace.marker
        name = marker.symbol if isinstance(marker.symbol, str) else "circle"
        symbol = _SYMBOLS.get(name.removesuffix("-open"), "o")
        size = np.asarray(6 if marker.size is None else marker.size, np.float64) * _POINTS
        colour = _colour(marker.color or trace.line.color, "C0")
        is_line = symbol in "_|"
        size *= _LINE_SYMBOL if is_line else 1
        edge = _colour(marker.line.color, "none")
        if name.endswith("-open"):
            edge, colour = colour, "none"
        width = (marker.line.width or 0) * _POINTS
        looks: dict[str, Any] = {"marker": symbol, "linewidths": width, "zorder": 3}
        axes.scatter(x, y, s=size**2, c=colour, **looks, **({} if is_line else {"edgecolors": edge}))
        return Line2D(
            [],
            [],
            linestyle="",
            marker=symbol,
            markersize=_SMALL * _POINTS if is_line or size.ndim else min(float(size), _SMALL * _POINTS),
            color=colour if isinstance(colour, str) else edge,
            markeredgecolor=colour if is_line else edge,
            markeredgewidth=width,
        )

    def _add_bars(self, trace: Any, axes: "Axes", across: _Places, up: _Places) -> Any:
        lying = trace.orientation == "h"
        places = (up if lying else across).of(trace.y if lying else trace.x)
        lengths = np.array(
            [math.nan if value is None else value for value in (trace.x if lying else trace.y)], np.float64
        )
        places, thick, base = self._bar_places(trace, axes, places, lengths)
        draw = axes.barh if lying else axes.bar
        bars = draw(
            places,
            lengths,
            thick,
            base,
            color=_colour(trace.marker.color, "C0"),
            edgecolor=_colour(trace.marker.line.color),
            linewidth=(trace.marker.line.width or 0) * _POINTS,
        )
        texts = self._bar_texts(trace, places, lengths)
        for place, length, text in zip(places, lengths, texts, strict=False):
            at = (length, place) if lying else (place, length)
            axes.annotate(
                text,
                at,
                xytext=(4, 0) if lying else (0, 3),
                textcoords="offset points",
                va="center" if lying else "bottom",
                ha="left" if lying else "center",
                fontsize=_FONT * _POINTS,
                color=_INK,
            )
        return bars

    def _bar_places(self, trace: Any, axes: "Axes", places: Any, lengths: Any) -> tuple[Any, Any, Any]:
        """Return positions, widths and beginnings of bars, as the chart's mode arranges them."""
        mode = self._layout.barmode or "group"
        template = self._layout.template.layout.bargap
        gap = self._layout.bargap if self._layout.bargap is not None else _BAR_GAP if template is None else template
        thick = (1.0 - gap) if trace.width is None else np.asarray(trace.width, np.float64)
        if mode == "overlay":
            return places, thick, 0.0
        if mode == "group":
            bars = [each for each in self._traces if each.type == "bar"]
            place = next(number for number, each in enumerate(bars) if each is trace)
            return places + thick * ((place + 0.5) / len(bars) - 0.5), thick / len(bars), 0.0
        if self._layout.barnorm == "percent":
            self._to_percent(trace, lengths)
        ends = []
        for place, length in zip(places, np.nan_to_num(lengths), strict=True):
            key = (id(axes), float(place), length < 0)
            ends.append(self._ends.get(key, np.float64(0)))
            self._ends[key] = ends[-1] + length
        return places, thick, np.array(ends)

    def _to_percent(self, trace: Any, lengths: npt.NDArray[np.float64]) -> None:
        """Turn the lengths of stacked bars into percents of their stack, in place."""
        lying = trace.orientation == "h"
        stack = [each for each in self._traces if each.type == "bar" and each.yaxis == trace.yaxis]
        total = np.sum([np.nan_to_num(np.array(each.x if lying else each.y, np.float64)) for each in stack], axis=0)
        lengths *= 100 / np.where(total > 0, total, 1)

    @staticmethod
    def _bar_texts(trace: Any, places: Any, lengths: Any) -> list[str]:
        if trace.texttemplate:
            values = dict.fromkeys("xyz", lengths)
            return [
                _FORMAT.sub(lambda found, at=at: format(values[found[1]][at], found[2] or ""), trace.texttemplate)  # type: ignore[misc]
                for at in range(len(places))
            ]
        return [] if trace.text is None else [_plain(str(text)) for text in np.atleast_1d(trace.text)]

    def _add_heat_map(self, trace: Any, axes: "Axes", across: _Places, up: _Places) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        values = np.array(trace.z, np.float64)
        rows = up.of(range(len(values)) if trace.y is None else trace.y)
        if not values.size:
            return
        begin, step = float(trace.x0 or 0), float(trace.dx or 1)
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
        if trace.showscale is not False and self._scale_axes is not None:
            scale = self.figure.colorbar(image, cax=self._scale_axes)
            scale.outline.set_visible(False)
            if trace.colorbar.tickvals is not None:
                scale.set_ticks(list(trace.colorbar.tickvals), labels=list(map(_plain, trace.colorbar.ticktext)))
            scale.set_label(_plain(trace.colorbar.title.text), fontsize=_FONT * _POINTS, color=_INK)
            scale.ax.tick_params(labelsize=_SMALL * _POINTS, colors=_INK)

    def _finish(self, axes: "Axes", across: str, up: str) -> None:
        """Set scales, limits, ticks and titles of a panel."""
        overlaid = bool(self._names[up].overlaying)
        axes.set_axisbelow(True)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom") and not overlaid)
            spine.set_color("#9aa0a8")
        for name, its in ((across, axes.xaxis), (up, axes.yaxis)):
            axis, places = self._names[name], self._places[name]
            self._scale(axes, name)
            its.label.set(text=_plain(axis.title.text), fontsize=_FONT * _POINTS, color=_INK)
            its.set_tick_params(labelsize=_FONT * _POINTS, labelcolor=_INK, color="#9aa0a8")
            self._set_ticks(axes, name)
            if not places.is_category and axis.showgrid is not False and not overlaid and not axes.images:
                its.grid(color=_GRID, linewidth=0.8)
        if self._names[up].side == "right":
            axes.yaxis.tick_right()
            axes.yaxis.set_label_position("right")
            axes.spines["right"].set_visible(True)
            axes.spines["left"].set_visible(False)
        if self._names[across].anchor not in (None, up) and not overlaid:  # the strip above the panel that has the axis
            axes.tick_params(axis="x", labelbottom=False, bottom=False)
            axes.xaxis.label.set_visible(False)
            axes.tick_params(axis="y", left=False)
            for spine in axes.spines.values():
                spine.set_visible(False)

    def _scale(self, axes: "Axes", name: str) -> None:
        """Set scale and limits of an axis."""
        axis, places = self._names[name], self._places[name]
        is_x = name[0] == "x"
        if axis.type == "log":
            (axes.set_xscale if is_x else axes.set_yscale)("log", nonpositive="clip")
        limits = axes.set_xlim if is_x else axes.set_ylim
        if axis.range is not None:
            first, last = (10.0**end if axis.type == "log" else float(end) for end in axis.range)
            limits(first, last)
        elif places.is_category and places.titles:
            limits(-0.5, len(places.titles) - 0.5)
        elif axis.rangemode == "tozero":
            limits(0, None)
        if axis.autorange == "reversed":
            (axes.xaxis if is_x else axes.yaxis).set_inverted(True)

    def _set_ticks(self, axes: "Axes", name: str) -> None:
        """Set the ticks of an axis and their labels, turned where they are crowded."""
        from matplotlib.ticker import NullLocator, PercentFormatter, StrMethodFormatter

        axis, places, is_x = self._names[name], self._places[name], name[0] == "x"
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
            percent = axis.tickformat == ".0%"
            its.set_major_formatter(PercentFormatter(1, decimals=0) if percent else StrMethodFormatter("{x:,.10g}"))

    def _label_categories(self, axes: "Axes", name: str) -> None:
        places, is_x = self._places[name], name[0] == "x"
        its, titles = (axes.xaxis if is_x else axes.yaxis), places.titles
        first, last = self._domain(name)
        size = self._width * 0.86 if is_x else (self._layout.height or _HEIGHT) * 0.8
        low, high = sorted(axes.get_xlim() if is_x else axes.get_ylim())
        within = [place for place in range(len(titles)) if low <= place <= high]
        room = size * (last - first) / max(high - low, 1)
        longest = max((len(titles[place]) for place in within), default=0)
        letters = _FONT if room > _FONT else _SMALL
        turned = is_x and longest * _LETTER * _FONT > room - 6
        every = max(1, math.ceil((letters if turned or not is_x else 1) / room))
        shown = within[::every]
        its.set_ticks(shown, labels=[titles[place] for place in shown])
        angle = 90 if room < 1.6 * _FONT or longest > 24 else 45
        its.set_tick_params(labelsize=letters * _POINTS, labelrotation=angle if turned else 0)
        if turned and angle < 90:
            for label in its.get_ticklabels():
                label.set(ha="right", rotation_mode="anchor")
        if places.outer:
            self._label_outer(axes, places, turned=turned, longest=longest)

    def _label_outer(self, axes: "Axes", places: _Places, *, turned: bool, longest: int) -> None:
        """Label the outer level of categories of two levels below the inner one."""
        begins = [
            place
            for place in range(len(places.outer))
            if place in (0,) or places.outer[place] != places.outer[place - 1]
        ]
        ends = [*begins[1:], len(places.outer)]
        second = axes.secondary_xaxis(-0.02 - (0.011 * longest if turned else 0.06))
        middles = [(begin + end - 1) / 2 for begin, end in zip(begins, ends, strict=True)]
        texts = [places.outer[begin] for begin in begins]
        narrow = max(map(len, texts)) * _LETTER * _FONT * len(texts) > self._width * 0.86
        second.set_xticks(middles, labels=texts, rotation=90 if narrow else 0, fontsize=_FONT * _POINTS, color=_INK)
        second.tick_params(length=0)
        second.spines["bottom"].set_visible(False)

    def _add_shape(self, shape: Any) -> None:
        """Draw a line or a rectangle of the layout over the panels that it is about."""
        looks = {
            "color": _colour(shape.line.color, _INK),
            "linewidth": (shape.line.width or 1) * _POINTS,
            "linestyle": _DASHES.get(shape.line.dash or "solid", "-"),
        }
        xref, yref = shape.xref or "x", shape.yref or "y"
        for (across, up), axes in self._panels.items():
            if self._names[up].overlaying:
                continue
            if shape.type == "line" and shape.x0 == shape.x1 and xref == across and yref.split()[0] in ("paper", up):
                axes.axvline(float(shape.x0), **looks)
            elif shape.type == "line" and shape.y0 == shape.y1 and yref == up and xref.split()[0] in ("paper", across):
                axes.axhline(float(shape.y0), **looks)

    def _annotate(self, note: Any) -> None:
        """Write an annotation of the layout, whose parts may have colours of their own."""
        from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea

        up = str(note.yref or "y").removesuffix(" domain")
        axes = self._top() if up == "paper" else self._panels["x", up]
        x, y = self._places["x"].at(note.x), self._places.get(up, self._places["y"]).at(note.y)
        across, above = (
            "axes fraction" if str(ref).endswith(("paper", "domain")) else "data" for ref in (note.xref, note.yref)
        )
        size, ink = (note.font.size or _FONT) * _POINTS, _colour(note.font.color, _INK)
        parts: list[Artist] = [
            TextArea(_plain(text), textprops={"color": colour or ink, "fontsize": size})
            for colour, text in _coloured(note.text or "")
        ]
        corner = {"left": 0.0, "right": 1.0}.get(note.xanchor, 0.5), {"bottom": 0.0, "top": 1.0}.get(note.yanchor, 0.5)
        box = HPacker(children=parts, pad=0, sep=0, align="baseline")
        axes.add_artist(
            AnnotationBbox(
                box, (x, y), xycoords=(across, above), box_alignment=corner, pad=0.2, frameon=False, zorder=4
            )
        )

    def _top(self) -> "Axes":
        """Return the panel at the top."""
        return self._panels[max(self._panels, key=lambda pair: self._domain(pair[1])[1])]

    def _head(self) -> None:
        """Write the title, and the option that is shown."""
        if self._option:
            self._top().set_title(f"shown: {self._option}", loc="left", fontsize=_FONT * _POINTS, color=_INK)
        if self._title:
            self.figure.suptitle(_plain(self._title), fontsize=1.25 * _FONT * _POINTS, color=_INK, fontweight="bold")
