"""Charts over the time of a run: below a strip of its phases, with a line at each level's beginning."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cyscc.host.analysis.report.frames import Frames, key_title, keys_of
from cyscc.host.answer import charts
from cyscc.host.answer.charts import HEAD, INK, LETTER, MARGIN, MARK, NARROWEST, SMALL, Figure, Trace, look
from cyscc.host.answer.colours import PHASE_COLOURS
from cyscc.host.record.arrow import numbers
from cyscc.host.record.tables import PHASES

_PARTIAL = "not complete"
"""Label of the end of an interrupted run, whose last instruction is not in the record."""
_ON_PHASES = "#101010"
"""Colour of text on the colours of phases."""
_SEVERAL = "several phases"
_PARTS = {**{name: PHASE_COLOURS[name] for name in PHASES}, _SEVERAL: "#b4bac2"}
"""Colours of the strip."""
_STRIP, _GAP = 16, 9
"""Height of the strip of phases and of the gap below it, in pixels."""
_MOST_LINES = 60
_FELT = 0.005
"""Least share of a run with which an instruction's beginning is marked, if there are too many to mark all, and least
distance of two marks."""


class Band(NamedTuple):
    """A vertical axis of a chart over time, with its traces."""

    title: str
    shown: Sequence[Trace]
    axis: Mapping[str, Any] = {"rangemode": "tozero"}
    """Further settings of the axis."""


def over_time(frames: Frames, *bands: Band, height: int, **layout: Any) -> Figure:
    """Return a figure over the cycles of a run, with the axes above each other.

    Parameters
    ----------
    frames : Frames
        The run.
    *bands : Band
        The axes, from top to bottom.
    height : int
        Height in pixels.
    **layout
        Further layout settings of plotly.
    """
    inside = height - HEAD - MARGIN["b"]
    top, axes, shown = 1 - (_STRIP + _GAP) / inside, {}, [_strip(frames)]
    names = ["y", *(f"y{number}" for number in range(3, 2 + len(bands)))]
    for place, (name, band) in enumerate(zip(names, bands, strict=True)):
        ends = [top * (1 - (place + 1) / len(bands)), top * (1 - place / len(bands)) - (0.05 if place else 0)]
        axes[f"yaxis{name[1:]}"] = {"title": band.title, "domain": ends, **band.axis}
        shown += [{**trace, "yaxis": name} for trace in band.shown]
    shown += _phases(shown[0])
    strip = {"domain": [1 - _STRIP / inside, 1], "fixedrange": True, "showgrid": False, "ticks": ""}
    named = {"unifiedhovertitle": {"text": "cycle %{x:,d}"}, "hoverformat": ",d", "title": "cycle"}
    return Figure(
        data=shown,
        layout={
            "template": charts.TEMPLATE,
            "height": height,
            "margin": {**MARGIN, "t": HEAD},
            "xaxis": {"range": [0, frames.record.cycles], "anchor": names[-1], **named},
            "yaxis2": {**strip, "tickfont": {"size": 10}},
            "annotations": list(map(_label, strip_labels(frames))),
            "shapes": [{**_LINE, "x0": cycle, "x1": cycle} for cycle in _marked(frames)],
            **axes,
            **layout,
        },
    )


_LINE = {
    "type": "line",
    "yref": "paper",
    "y0": 0,
    "y1": 1,
    "line": {"color": MARK, "width": 0.7, "dash": "dot"},
    "layer": "above",
}


def _strip(frames: Frames) -> Trace:
    """Return the strip of phases: a column of several has a colour of its own."""
    keys = keys_of(frames.instructions)
    titles = [key_title(key) for key in keys]
    phase = np.array([PHASES.index(key.phase) for key in keys])
    pairs = frames.record.overlaps
    pairs = pairs[pairs["instruction"].isin(frames.instructions.index)]
    place = pd.Series(frames.instructions.index.get_indexer(pairs["instruction"]))
    ends = place.groupby(numbers(pairs["cycle"]) // frames.width * frames.width).agg(["min", "max"])
    changes = np.concatenate([[0], np.cumsum(np.diff(phase) != 0)])
    none = "no instruction" if frames.record.interrupted is None else f"no instruction, or {_PARTIAL} in the record"
    codes, texts = [], []
    for first, last in ends.reindex(frames.lengths.index, fill_value=-1).itertuples(index=False):
        mixed = last - first > 1 and changes[last] > changes[first]
        codes.append(np.nan if first < 0 else len(PHASES) if mixed else phase[first])
        texts.append(none if first < 0 else titles[first] if first == last else f"{titles[first]} to {titles[last]}")
    steps = len(_PARTS)
    ends_of = [(place, colour) for number, colour in enumerate(_PARTS.values()) for place in (number, number + 1)]
    return {
        "type": "heatmap",
        "z": np.array([codes], np.float32),
        "x0": frames.width / 2,
        "dx": frames.width,
        "y": ["phase"],
        "text": [texts],
        "hovertemplate": "%{text}<extra></extra>",
        "colorscale": [[place / steps, colour] for place, colour in ends_of],
        "zmin": -0.5,
        "zmax": steps - 0.5,
        "showscale": False,
        "yaxis": "y2",
    }


def _phases(strip: Trace) -> list[Trace]:
    """Return an entry of the legend for each phase that is in the strip."""
    marker = {"symbol": "square", "size": 10}
    there = set(strip["z"][np.isfinite(strip["z"])].astype(int).tolist())
    return [
        {**look("points", colour, legendgroup=charts.PHASE, marker=marker), "name": name, "x": [None], "y": [None]}
        for number, (name, colour) in enumerate(_PARTS.items())
        if number in there
    ]


def _label(labelled: tuple[int, str]) -> Trace:
    middle, title = labelled
    font = {"size": 10, "color": INK if title == _PARTIAL else _ON_PHASES}
    return {"text": title, "x": middle, "yref": "y2", "y": 0, "showarrow": False, "font": font}


def strip_labels(frames: Frames) -> list[tuple[int, str]]:
    """Return the labels in the strip of phases, each with its middle cycle: of levels, else phases, else iterations.

    Those that have no room are left out.
    """
    rows, cycles = frames.instructions, max(frames.record.cycles, 1)
    keys, starts = keys_of(rows), numbers(rows["start"])
    ends = starts + numbers(rows["cycles"])
    found: list[tuple[int, str]] = []
    free = set(range(len(keys)))
    for title_of in (
        key_title,
        lambda key: key_title(key._replace(level=-1)) if key.iteration else "",
        lambda key: f"iteration {key.iteration}" if key.iteration else "",
    ):
        for title, places in groupby(range(len(keys)), lambda place, of=title_of: of(keys[place])):  # type: ignore[misc]
            its = list(places)
            begin, end = int(starts[its[0]]), int(ends[its[-1]])
            if title and free.issuperset(its) and NARROWEST * (end - begin) / cycles >= _room(title):
                free.difference_update(its)
                found.append(((begin + end) // 2, title))
    rest = cycles - int(ends.max(initial=0))
    if frames.record.interrupted is not None and NARROWEST * rest / cycles >= _room(_PARTIAL):
        found.append((cycles - rest // 2, _PARTIAL))
    return sorted(found)


def _room(label: str) -> float:
    """Return the width of a label in the strip, in pixels."""
    return (len(label) + 1) * LETTER * SMALL


def _marked(frames: Frames) -> list[int]:
    """Return the cycles of the levels' beginnings that get a line."""
    rows, least = frames.instructions, _FELT * frames.record.cycles
    if len(rows) > _MOST_LINES:
        rows = rows[rows["cycles"] >= least].nlargest(_MOST_LINES, "cycles").sort_index()
    marked: list[int] = []
    for start in rows["start"].tolist():
        if not marked or start - marked[-1] >= least:
            marked.append(start)
    return marked


def at_ends(frames: Frames, values: pd.DataFrame) -> pd.DataFrame:
    """Return the values of columns of time at their middles, and at both ends of the run."""
    places = [0, *(frames.lengths.index + frames.lengths // 2), max(frames.record.cycles - 1, 1)]
    kind = np.int32 if frames.record.cycles < 2**31 else np.float64
    return values.iloc[[0, *range(len(values)), -1]].set_axis(np.array(places, kind))


def lapse(
    frames: Frames, rows: Sequence[str], maps: Mapping[str, tuple[Any, str, str]], *, height: int, **layout: Any
) -> Figure:
    """Return a figure with heat maps of the same rows over time, and a selector between them.

    Parameters
    ----------
    frames : Frames
        The run.
    rows : sequence of str
        Names of the rows.
    maps : mapping of str to (ndarray, str, str)
        Values of shape (rows, columns of time), their hover format, and the title of their scale, by option.
    height : int
        Height in pixels.
    **layout
        Further layout settings of plotly.
    """
    shown = [
        charts.heat(
            values,
            title=title,
            most=100 if "%" in title else None,
            hover=f"%{{y}}<br>cycle %{{x:,}}<br>{hover}<extra></extra>",
            x0=frames.width / 2,
            dx=frames.width,
            y=list(rows),
        )
        for values, hover, title in maps.values()
    ]
    figure = over_time(frames, Band("", shown, {"autorange": "reversed"}), height=height, **layout)
    figure.choose({label: [number] for number, label in enumerate(maps, 1)})
    return figure
