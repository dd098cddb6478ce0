"""Charts: figures of plotly over frames, in one template for pages, notebooks and files.

What draws calls the functions here with a frame, or with traces of one, and sets what is its own; plotly itself is
named nowhere else but where figures are written to files. Its express interface is not used, which would take longer
to import than a page takes to draw.
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec
import numpy as np
import plotly.graph_objects as go

from cyscc.host.answer.colours import ARRAY_COLOURS, CAUSE_COLOURS, PHASE_COLOURS, STACK
from cyscc.sim.observation.causes import CAUSES

if TYPE_CHECKING:
    import pandas as pd

Trace = dict[str, Any]
"""A trace of a figure: its data and looks as plotly names them."""

PHASE = "phase"
"""Group of the entries of the legend that name phases."""
TITLES = {cause.name: cause.title for cause in CAUSES}
"""Title of each cause."""
COLOURS = {**CAUSE_COLOURS, **ARRAY_COLOURS, **PHASE_COLOURS}
"""Colour of each cause, array and phase."""

_DATA = msgspec.toml.decode(Path(__file__).with_name("template.toml").read_bytes())
_LAYOUT = _DATA["layout"]
DARK: dict[str, str] = _DATA["dark"]
"""Colours on a dark page, by those on a light one: neutral ones, and a line too dark for it. Others are the same."""
DRAWN: dict[str, dict[str, Any]] = _DATA["static"]
"""Names in matplotlib, for drawings in files, of symbols, dashes, steps and patterns of plotly."""
PAPER, INK, GRID, AXIS = (
    _LAYOUT["paper_bgcolor"],
    _LAYOUT["font"]["color"],
    *map(_LAYOUT["xaxis"].get, ("gridcolor", "linecolor")),
)
"""Colours of the background, of text, of the grid and of axes."""
EDGE = {"width": 0.3, "color": "#6b7078"}
"""Line around bars."""
MARK = "#3a3f47"
"""Colour of lines that mark a place."""
MARGIN = {"l": 112, "r": 36, "t": 14, "b": 48}
"""Margins of charts over time: equal, so that their axes are aligned; at the right stands the tool bar."""
HEAD = 44
"""Height above a chart with a selector or a strip of phases, in pixels."""
NARROWEST = 584
"""Width of a chart's axis, in pixels, at which its labels must have room: that on a page of 800 pixels."""
LETTER, SMALL = 6.6, 10 / 12
"""Width of a letter of a label, in pixels: that of a wide font; size of small labels as a share of the others'."""
TEMPLATE = go.layout.Template(layout=_LAYOUT)
_KINDS: dict[str, Trace] = _DATA["kinds"]
SYMBOLS: list[str] = _DATA["symbols"]
"""Symbols of series, besides their colours."""
_PANEL_TITLE = 26
"""Height of a panel's title, in pixels."""
_BETWEEN = _PANEL_TITLE + 44
"""Height between rows of panels, for ticks and title of an axis and the title of the next panel, in pixels."""


class Figure(go.Figure):
    """A figure of plotly in the template of this program."""

    def name_places(self, titles: Sequence[str]) -> None:
        """Name the places of the horizontal axis: upright where all names have room, else rotated, in a higher figure.

        Of rotated names, pages draw only as many as have room.
        """
        widths = [len(title) * LETTER for title in titles]
        if max(map(sum, pairwise([*widths, 0.0])), default=0) / 2 <= NARROWEST / max(len(titles), 1):
            self.update_xaxes(type="category", tickangle=0)
            return
        self.update_xaxes(type="category", tickangle=90, tickfont={"size": 12 * SMALL})
        self.update_layout(height=self.layout.height + int(max(widths) * SMALL))

    def name_groups(self, groups: Sequence[tuple[str, int]], axis: str, *, colour: str = PAPER) -> None:
        """Name groups of places of an axis, each with its size, in their middle, and draw lines between them."""
        ends = np.cumsum([size for _, size in groups])
        middles = [float(end - size / 2 - 0.5) for end, (_, size) in zip(ends, groups, strict=True)]
        names = {"tickmode": "array", "tickvals": middles, "ticktext": [name for name, _ in groups], "type": "category"}
        across = "y" if axis == "x" else "x"
        whole = {f"{across}ref": f"{across} domain", f"{across}0": 0, f"{across}1": 1}
        for end in ends[:-1].tolist():
            at = {f"{axis}0": end - 0.5, f"{axis}1": end - 0.5}
            self.add_shape(type="line", line={"color": colour, "width": 1.5}, **at, **whole)
        self.update_layout({f"{axis}axis": {**names, "ticks": "", "tickangle": 0}})

    def choose(self, options: Mapping[str, Sequence[int]], *, updates: Sequence[Any] = ()) -> None:
        """Add a selector of the traces to show.

        Parameters
        ----------
        options : mapping of str to sequence of int
            The options, each with the indices of its traces; those of the first one are shown. Traces that belong to no
            option are always shown.
        updates : sequence of dict, optional
            Layout update of each option.
        """
        chosen = {number for own in options.values() for number in own}
        buttons = []
        for place, (label, own) in enumerate(options.items()):
            visible = [trace not in chosen or trace in own for trace in range(len(self.data))]
            if not place:
                for trace, seen in zip(self.data, visible, strict=True):
                    trace.visible = seen
            changes = updates[place] if updates else {}
            buttons.append({"label": label, "method": "update", "args": [{"visible": visible}, changes]})
        few = {"type": "buttons", "direction": "right"} if len(buttons) <= 4 else {}
        self.update_layout(margin={"t": HEAD}, updatemenus=[{**_DATA["menu"], **few, "buttons": buttons}])


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart of a page.

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
    causes : bool
        Whether its colours are those of the causes, which have one legend on a page.
    """

    name: str
    title: str
    about: str
    figure: Figure
    time_of: str = ""
    points: tuple[str, ...] = ()
    causes: bool = False

    def of_run(self, run: str) -> Self:
        """Return a copy of the chart that is labelled with a run, for reports on several runs."""
        return replace(self, name=f"{run}-{self.name}", time_of=run if self.time_of else "")

    @property
    def data(self) -> str:
        """The chart as JSON, as the plotting library of a page takes it, without what a page has once: see `legend`."""
        drawn = json.loads(self.figure.to_json(validate=False))
        del drawn["layout"]["template"]
        if self.causes:
            drawn["layout"]["showlegend"] = False
        for trace in drawn["data"]:
            if trace.get("legendgroup") == PHASE:
                trace["showlegend"] = False
        return json.dumps({"data": drawn["data"], "layout": drawn["layout"]}, separators=(",", ":"))


def legend(shown: Iterable[Chart]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the legend of a page: title and colour of each cause that charts show, from a stack's bottom; phases."""
    traces = [(chart.causes, trace) for chart in shown for trace in chart.figure.data]
    there = {trace.name for causes, trace in traces if causes}
    phases = {trace.name: trace.marker.color for _, trace in traces if trace.legendgroup == PHASE}
    return [(TITLES[name], CAUSE_COLOURS[name]) for name in STACK if TITLES[name] in there], list(phases.items())


def library() -> str:
    """Return the plotting library of pages, as JavaScript."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def frame_of(points: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return the points of a document as a frame; what is inside of their values has names with dots."""
    import pandas as pd

    return pd.json_normalize(list(points))


def literal(text: str) -> str:
    """Return a text for a chart, in whose texts plotly reads tags."""
    return html.escape(text, quote=False)


def look(kind: str, colour: str, **more: Any) -> Trace:
    """Return the looks of traces of a kind: bars, rows (lying bars), areas, lines, points, or joined (both).

    `more` are further settings of plotly; those of ``line`` and ``marker`` are added to the colour.
    """
    looks: Trace = {**_KINDS[kind], **more}
    if kind in ("lines", "joined"):
        looks["line"] = {"color": colour, "width": 1.6, **more.get("line", {})}
    if kind == "areas":
        looks |= {"fillcolor": colour, "line": {"width": 0.4, "color": PAPER, "shape": "hvh"}}
    if kind in ("points", "joined"):
        looks["marker"] = {"color": colour, "size": 8, **more.get("marker", {})}
    if kind in ("bars", "rows"):
        looks["marker"] = {"color": colour, "line": EDGE, **more.get("marker", {})}
    return looks


def pattern(shape: str) -> dict[str, Any]:
    """Return a pattern of bars in white: ``/``, ``.``, ``x``, or none."""
    return {"shape": shape, "fgcolor": "white", "fillmode": "overlay", "size": 7}


def points_of(names: Iterable[str], colours: Iterable[str]) -> dict[str, Trace]:
    """Return the looks of points by name, each with a colour and a symbol of its own."""
    return {
        name: look("points", colour, marker={"symbol": symbol})
        for name, colour, symbol in zip(names, colours, SYMBOLS, strict=False)
    }


def traces(
    frame: "pd.DataFrame", kind: str, *, form: str = "%{y:,.0f}", colours: Mapping[str, str] = COLOURS, **more: Any
) -> list[Trace]:
    """Return a trace for each column of a frame that is not zero everywhere.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its index are the places along the axis.
    kind : str
        As of `look`.
    form : str
        Hover format of a value, which follows the names of place and column.
    colours : mapping of str to str
        Colour of each column.
    **more
        Further looks of all traces.
    """
    places: Any = frame.index.tolist() if frame.index.dtype.kind not in "iuf" else frame.index.to_numpy()
    along, across = ("y", "x") if kind == "rows" else ("x", "y")
    named = "" if kind in ("areas", "lines") else f"%{{{along}}}<br>"
    found = []
    for column in frame:
        values = frame[column].to_numpy(np.float32)
        if np.nan_to_num(values).any():
            title = TITLES.get(str(column), str(column))
            hover = f"{named}{title}: {form}<extra></extra>"
            looks = look(kind, colours[str(column)], **more)
            found.append({**looks, along: places, across: values, "name": title, "hovertemplate": hover})
    return found


def series(
    frame: "pd.DataFrame",
    x: str,
    y: str,
    by: str,
    looks: Mapping[str, Trace],
    *,
    told: Sequence[str] = (),
    form: str = "%{y:,.4g}",
) -> list[Trace]:
    """Return a trace for each value of a column of a long frame, in their order; rows without a number are left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row for each point.
    x, y, by : str
        Columns of the place, the value and the name of its series.
    looks : mapping of str to Trace
        Looks of each series.
    told : sequence of str
        Columns whose values `form` has as ``%{customdata[0]}`` and so on.
    form : str
        Hover format of a point, which follows the name of its series.
    """
    return [
        {
            **looks[name],
            "name": name,
            "x": rows[x].tolist(),
            "y": rows[y].tolist(),
            "hovertemplate": f"{literal(str(name))}<br>{form}<extra></extra>",
            **({"customdata": rows[list(told)].values.tolist()} if told else {}),
        }
        for name, rows in frame.dropna(subset=[x, y]).groupby(by, sort=False, observed=True)
    ]


def marks(frame: "pd.DataFrame", looks: Mapping[str, Trace]) -> list[Trace]:
    """Return points in rows, a series for each column: beside those of the others, which they would hide."""
    places = np.arange(len(frame))
    groups = [looks[name].get("legendgroup", name) for name in frame]
    order = list(dict.fromkeys(groups))
    found = []
    for name, group in zip(frame, groups, strict=True):
        shift = 0.6 * ((order.index(group) + 0.5) / len(order) - 0.5)
        there = frame[name].notna().to_numpy(bool)
        if there.any():
            hover = f"%{{text}}<br>{name}: %{{x:,.4g}}<extra></extra>"
            shown = {"x": frame[name][there].astype(float).tolist(), "y": (places[there] + shift).tolist()}
            texts = [literal(str(each)) for each in frame.index[there]]
            found.append({**looks[name], **shown, "name": name, "text": texts, "hovertemplate": hover})
    return found


def rows_panel(title: str, frame: "pd.DataFrame", looks: Mapping[str, Trace], x: str, *, one: str = "") -> "Panel":
    """Return a panel of points in rows, named by the index of a frame, on a logarithmic axis; see `marks`."""
    names = row_axis(frame.index)
    return Panel(title, marks(frame, looks), {"title": x}, names, 90 + 32 * len(frame), one, "x")


def row_axis(names: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a vertical axis with names in rows from the top."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [literal(str(name)) for name in names],
        "range": [len(names) - 0.5, -0.5],
        "automargin": True,
    }


def log_axis(values: Iterable[float]) -> dict[str, Any]:
    """Return the settings of a logarithmic axis, with full numbers at its ticks: of more decades, fewer of each."""
    # In single precision, processors differ in the logarithm of a power of ten.
    found = [float(value) for value in values if value is not None and value > 0 and np.isfinite(value)]
    low, high = min(found, default=1.0), max(found, default=10.0)
    exponents = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 2)
    decades = np.log10(high / low)
    digits = range(1, 10) if 0 < decades < 1 else (1, 2, 5) if decades < 4 else (1,)
    ticks = [digit * 10.0**exponent for exponent in exponents for digit in digits]
    return {"type": "log", "tickmode": "array", "tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def _logarithmic(shown: Iterable[Trace], names: str) -> dict[str, dict[str, Any]]:
    """Return the settings of those axes of traces, x or y, that are logarithmic."""
    every = list(shown)
    return {name: log_axis([value for trace in every for value in trace[name]]) for name in names}


def new_figure(
    shown: Sequence[Trace] = (), *, height: int, x: str = "", y: str = "", log: str = "", **layout: Any
) -> Figure:
    """Return a figure of traces.

    Parameters
    ----------
    shown : sequence of Trace
        The traces.
    height : int
        Height in pixels.
    x, y : str
        Titles of the axes.
    log : str
        Those that are logarithmic: ``x``, ``y``, ``xy`` or none.
    **layout
        Further layout settings of plotly.
    """
    ticks = _logarithmic(shown, log)
    for name, title in (("x", x), ("y", y)):
        layout[f"{name}axis"] = {"title": title, **ticks.get(name, {}), **layout.get(f"{name}axis", {})}
    return Figure(data=list(shown), layout={"template": TEMPLATE, "height": height, **layout})


def stacked_rows(shown: Sequence[Trace], **how: Any) -> Figure:
    """Return stacked bars, a row for each name from the top; the other parameters are those of `new_figure`."""
    rows = {"autorange": "reversed", "type": "category", "automargin": True}
    return new_figure(shown, barmode="stack", yaxis=rows, **how)


class Panel(NamedTuple):
    """A panel of a figure."""

    title: str
    shown: Sequence[Trace]
    x: Mapping[str, Any] = {}
    y: Mapping[str, Any] = {}
    """Settings of its axes."""
    height: int = 300
    """Its height in pixels."""
    one: str = ""
    """Axis of a ratio, on which 1 is marked: x or y; empty for none."""
    log: str = ""
    """Axes that are logarithmic: x, y, both or none."""


def panels(
    parts: Sequence[Panel], *, columns: int = 2, widths: Sequence[float] = (), shared: str = "", **layout: Any
) -> Figure:
    """Return a figure of panels, row by row, whose series have one legend.

    Parameters
    ----------
    parts : sequence of Panel
        The panels; those of a row have the height of its highest.
    columns : int
        Panels in a row.
    widths : sequence of float
        Shares of the width that the columns have; by default they are equal.
    shared : str
        Axes that have one scale in all panels: ``x``, ``y``, ``xy`` or none.
    **layout
        Further layout settings of plotly.
    """
    columns = max(min(columns, len(parts)), 1)
    shares = np.array(widths or [1.0] * columns) / sum(widths or [columns])
    heights = [max(part.height for part in parts[at : at + columns]) for at in range(0, len(parts), columns)]
    gap, total = 0.14 / columns if columns > 1 else 0.0, sum(heights) + _BETWEEN * (len(heights) - 1)
    settings: dict[str, Any] = {}
    notes, found, ones, named = [], [], [], set()
    for place, part in enumerate(parts):
        row, column = divmod(place, columns)
        number = "" if not place else str(place + 1)
        left = float(shares[:column].sum())
        top = 1 - (sum(heights[:row]) + _BETWEEN * row) / total
        bottom = max(top - heights[row] / total, 0)
        domains = {
            "x": [
                left + (gap / 2 if column else 0),
                left + float(shares[column]) - (gap / 2 if column < columns - 1 else 0),
            ],
            "y": [bottom, top],
        }
        ticks = _logarithmic(part.shown, part.log)
        ticks |= _logarithmic((trace for each in parts for trace in each.shown), "".join(set(part.log) & set(shared)))
        for name, own in (("x", part.x), ("y", part.y)):
            alike = {"matches": name} if name in shared and place else {}
            across = {"x": "y", "y": "x"}[name]
            settings[f"{name}axis{number}"] = {
                "domain": domains[name],
                "anchor": f"{across}{number}",
                **alike,
                **ticks.get(name, {}),
                **own,
            }
        for trace in part.shown:
            once = {} if trace.get("showlegend") is False else {"showlegend": trace["name"] not in named}
            named.add(trace["name"])
            found.append({"legendgroup": trace["name"], **trace, "xaxis": f"x{number}", "yaxis": f"y{number}", **once})
        if part.one:
            across = "x" if part.one == "y" else "y"
            ends = {f"{part.one}0": 1, f"{part.one}1": 1, f"{across}0": 0, f"{across}1": 1}
            refs = {f"{part.one}ref": f"{part.one}{number}", f"{across}ref": f"{across}{number} domain"}
            ones.append({"type": "line", "line": {"color": AXIS, "width": 1}, "layer": "below", **refs, **ends})
        if part.title:
            at = {"x": 0.5, "xref": f"x{number} domain", "y": 1, "yref": f"y{number} domain", "yanchor": "bottom"}
            notes.append({"text": part.title, "showarrow": False, "xanchor": "center", "font": {"size": 13}, **at})
    margin = {"t": 14 + _PANEL_TITLE} if notes else {}
    layout["height"] = total + legend_height(found) + 60
    return Figure(
        data=found,
        layout={"template": TEMPLATE, "margin": margin, "annotations": notes, "shapes": ones, **settings, **layout},
    )


def legend_height(shown: Iterable[Trace]) -> int:
    """Return the height of the legend of some traces on a narrow page, in pixels."""
    names = {trace["name"] for trace in shown if trace.get("name") and trace.get("showlegend") is not False}
    widest = max((len(name) * LETTER + 46 for name in names), default=0.0)
    return 19 * -(-len(names) // max(int(NARROWEST // widest), 1)) if len(names) > 1 else 0


def _round_up(value: float) -> float:
    """Return a number of one or two digits that is not smaller: the end of a scale with four steps."""
    power = 10.0 ** np.floor(np.log10(value)) if value > 0 else 1.0
    return float(next(each * power for each in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10) if each * power >= value))


def heat(values: Any, *, title: str, hover: str, least: float = 0, most: float | None = None, **more: Any) -> Trace:
    """Return a heat map, whose colours reach to its largest value, but for few that are far above all others.

    Parameters
    ----------
    values : ndarray, shape (rows, columns)
        Values, in the type in which they are stored.
    title : str
        Title of the colour scale.
    hover : str
        Hover format of a value, such as ``%{z} %``.
    least : float
        Value at which the colours begin.
    most : float, optional
        Value at which they end at the latest.
    **more
        Further settings of the trace: its places.
    """
    known = values[np.isfinite(values)]
    largest = float(np.max(known, initial=least))
    top = largest
    if least == 0:
        top = _round_up((float(np.quantile(known, 0.999)) if known.size else 0.0) or largest)
        top = top if most is None else min(top, most)
    scale = {**_DATA["scale"], "title": {"text": title, "side": "top"}}
    if largest > top:
        ticks = np.linspace(0, top, 5)
        texts = [f"{tick:,.3g}" for tick in ticks]
        scale |= {"tickvals": ticks.tolist(), "ticktext": [*texts[:-1], f"\u2265 {texts[-1]}"]}
    return {
        "type": "heatmap",
        "z": values,
        "zmin": least,
        "zmax": max(top, least + 1e-9),
        "colorscale": "Cividis",
        "colorbar": scale,
        "hovertemplate": hover,
        "name": title,
        **more,
    }
