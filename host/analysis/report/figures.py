"""The charts of a report: where cycles went, work, token, FIFOs; memory and latencies; the roofline."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cyscc.host.analysis.explain.evidence import evidence_of
from cyscc.host.analysis.explain.observations import busiest_bank
from cyscc.host.analysis.report.frames import OUTSIDE, Frames, chart, key_point, keys_of
from cyscc.host.analysis.report.timeline import Band, at_ends, lapse, over_time
from cyscc.host.analysis.roofline.limits import CROSSBAR, LIMITS
from cyscc.host.analysis.roofline.plot import THROUGHPUT, intensity_title, level_traces, limit_axes, limit_traces
from cyscc.host.answer import charts
from cyscc.host.answer.charts import COLOURS, EDGE, GRID, INK, PAPER, TITLES, Chart, Figure, look, new_figure, traces
from cyscc.host.answer.colours import BLUE, GREEN, ORANGE, RUN_COLOURS, SKY, STACK, VERMILION
from cyscc.host.record.reader import memory_parts
from cyscc.host.record.tables import ARRAYS, LONGEST_LATENCY, MODULES, PHASES
from cyscc.sim.observation.causes import WORK

_ITERATIONS = 60
"""Most bars of a chart of iterations."""
_FEW_TRACKS = 12
"""Most kernels that are named one by one."""
_OPTION = 30
"""Height in pixels of an option in an open drop-down list."""
_ENTRIES = {
    "entries read": ("frontier", BLUE, "circle"),
    "vertices pushed": ("pushed", ORANGE, "triangle-up"),
    "of them copies": ("duplicates", "#b74d1a", "x"),
}
"""Column, colour and symbol of each kind of entries."""
_HOTTEST = 24
_MAPS = {"bank": 860, "controller": 340, "link": 450}
"""Heights of the heat maps of the parts of the memory, in pixels."""
_BINS = 80
_TURNS = 40
"""Least turns of the token over which a rate is averaged: one more or less in a column is not to be seen."""
_WAITED = ("accesses", "waiting")


_Make = Callable[[Frames], Chart]


def chart_sections(frames: Frames) -> list[tuple[str, str, list[Chart]]]:
    """Return the charts of a run by section, each section with its name for links and its title."""
    iterations = [_iterations] if frames.instructions["iteration"].any() else []
    # Some memories have no banks or links, and the limits of some machines are not known.
    busy = [partial(_busy, kind=kind, height=height) for kind, height in _MAPS.items()]
    banks: list[_Make] = [_arrays_of_levels, _hottest, *busy] if frames.record.memory else []
    limits: list[_Make] = [_roof, _limits, _limits_of_levels] if frames.roofline is not None else []
    sections: dict[tuple[str, str], list[_Make]] = {
        ("stacks", "Cycle stacks"): [_whole, *iterations, _levels, _over_time],
        ("kernels", "Kernels"): [_lapse, _kernels],
        ("work", "Work"): [_work],
        ("memory", "Memory"): [_arrays, _array_latencies, *banks],
        ("fifos", "FIFOs"): [_fifo_kinds, _fifos_over_time],
        ("latencies", "Latencies"): [_histogram, _latencies_of_levels],
        ("token", "Token and slots"): [_token],
        ("stalls", "Credits and stalls"): [_stalls],
        ("roofline", "Roofline"): limits,
    }
    return [(name, title, [make(frames) for make in its]) for (name, title), its in sections.items() if its]


def _whole(frames: Frames) -> Chart:
    phases = frames.stacks.groupby(frames.instructions["phase"], sort=False).sum()
    whole = frames.machine.sum()
    found = pd.DataFrame([whole, *(phases.loc[name] for name in PHASES if name in phases.index)])
    found.index = pd.Index(["whole run", *(name for name in PHASES if name in phases.index)])
    for cause in OUTSIDE:
        if whole[cause]:
            found.loc[TITLES[cause], cause] = whole[cause]
    found = found.reindex(columns=list(STACK)).fillna(0.0)
    totals = found.sum(axis=1).clip(lower=1)
    shown = traces(found, "rows", form="%{x:,.0f} cycles, %{customdata:.1%}")
    for trace in shown:
        trace["customdata"] = (trace["x"] / totals.to_numpy()).astype(np.float32)
    return chart("whole", charts.stacked_rows(shown, height=100 + 44 * len(found), x="cycles"))


def _stack_of(stacks: pd.DataFrame, what: str) -> Figure:
    """Return bars of cycles by cause, or of shares."""
    shares = 100 * stacks.div(stacks.sum(axis=1).clip(lower=1e-9), axis=0)
    found = {"cycles": traces(stacks, "bars"), f"% of the {what}": traces(shares, "bars", form="%{y:.1f} %")}
    return _one_of(found, ("cycles", "shares"), height=400)


def _one_of(found: Mapping[str, Sequence[charts.Trace]], options: Sequence[str], *, height: int) -> Figure:
    """Return stacked bars of several quantities, by the title of their axis, of which a selector shows one."""
    ends = np.cumsum([0, *map(len, found.values())]).tolist()
    shown = [trace for own in found.values() for trace in own]
    figure = new_figure(shown, height=height, y=next(iter(found)), barmode="relative")
    figure.name_places(shown[0]["x"] if shown else [])
    figure.choose(
        {name: range(begin, end) for name, begin, end in zip(options, ends, ends[1:], strict=False)},
        updates=[{"yaxis.title.text": title, "yaxis.autorange": True} for title in found],
    )
    return figure


def _iterations(frames: Frames) -> Chart:
    iteration = frames.instructions["iteration"]
    last = max(int(iteration.max()), 1)
    each = -(-last // _ITERATIONS)
    firsts = range(1, last + 1, each)
    stacks = (
        frames.stacks.groupby((iteration.clip(lower=1) - 1) // each).sum().reindex(range(len(firsts)), fill_value=0)
    )
    titles = [str(first) if each == 1 else f"{first:,} to {min(first + each - 1, last):,}" for first in firsts]
    figure = _stack_of(stacks.set_axis(titles), "iterations")
    figure.update_xaxes(title_text="iteration" if each == 1 else "iterations")
    together = "Searches and intersection of an iteration"
    if each > 1:
        together = f"Searches and intersections of {each:,} iterations"
    points = tuple(f"iteration={number}" for number in firsts)
    return chart("iterations", figure, points=points, together=together)


def _levels(frames: Frames) -> Chart:
    figure = _stack_of(frames.stacks.loc[frames.levels.index].set_axis(frames.titles), "level")
    points = tuple(map(key_point, keys_of(frames.levels)))
    return chart("levels", figure, points=points, others=frames.others)


def _shares(frames: Frames, cycles: pd.DataFrame) -> pd.DataFrame:
    """Return cycles in columns of time as percents of their lengths."""
    return 100 * cycles.div(frames.lengths, axis=0)


def _over_time(frames: Frames) -> Chart:
    shares = _shares(frames, frames.machine)[[cause for cause in STACK if cause in frames.machine]]
    shown = traces(at_ends(frames, shares), "areas", form="%{y:.1f} %")
    return _timed(frames, "time", Band("% of the cycles", shown, {"range": [0, 100]}), height=400, width=frames.width)


def _timed(frames: Frames, name: str, *bands: Band, height: int, **words: Any) -> Chart:
    """Return a chart over time whose values are told together."""
    return chart(name, over_time(frames, *bands, height=height, hovermode="x unified"), **words)


def _tracks(frames: Frames) -> pd.DataFrame:
    """Return each kernel that ran, by module, AE and number, with the title of its row."""
    places = frames.kernels.index.droplevel("time").unique()
    found = places.to_frame(index=False)
    return found.assign(title=[f"AE {row.engine} {row.module} {row.kernel}" for row in found.itertuples()])


def _lapse(frames: Frames) -> Chart:
    tracks = _tracks(frames)
    cubes = {"requests issued": frames.kernels[list(WORK)].sum(axis=1)}
    cubes |= {TITLES[cause]: frames.kernels[cause] for cause in STACK if frames.kernels[cause].any()}
    maps = {}
    for title, cycles in cubes.items():
        shares = frames.over_time(cycles).to_numpy() / frames.lengths.to_numpy()
        maps[title] = _percents(shares), f"{title}: %{{z}} % of the cycles", "% of the cycles"
    # The open drop-down list must fit into the chart.
    height = max(220 + 5 * len(tracks), 120 + _OPTION * len(maps))
    figure = lapse(frames, tracks["title"], maps, height=height)
    figure.name_groups(_groups(tracks, " "), "y")
    figure.update_yaxes(autorange="reversed", selector={"anchor": None})
    return chart("lapse", figure)


def _groups(tracks: pd.DataFrame, between: str) -> list[tuple[str, int]]:
    """Return names and sizes of the groups in which kernels are named: AEs, or every kernel if there are few."""
    several, found = tracks["module"].nunique() > 1, []
    for (module, engine), own in tracks.groupby(["module", "engine"], observed=True):
        kind = "int." if module == "intersection" else module
        if len(tracks) <= _FEW_TRACKS:
            found += [(f"AE {engine}{between}{kind} {kernel}", 1) for kernel in own["kernel"]]
        else:
            found.append((f"AE {engine}{between}{kind}" if several else f"AE {engine}", len(own)))
    return found


def _kernels(frames: Frames) -> Chart:
    tracks = _tracks(frames)
    cycles = frames.kernels.groupby(["module", "engine", "kernel"], observed=True).sum()
    shares = 100 * cycles.set_axis(tracks["title"]) / max(frames.record.cycles, 1)
    shown = traces(shares, "bars", form="%{y:.1f} %", marker={"line": {"width": 0}})
    figure = new_figure(shown, height=400, y="% of the cycles", bargap=0, barmode="relative", yaxis={"range": [0, 100]})
    figure.name_groups(_groups(tracks, "<br>"), "x", colour=INK)
    return chart("kernels", figure)


def _level_figure(shown: Sequence[charts.Trace], *, height: int, y: str, **layout: Any) -> Figure:
    """Return points of the levels on a logarithmic axis."""
    figure = new_figure(shown, height=height, y=y, log="y", **layout)
    figure.name_places(shown[0]["x"] if shown else [])
    return figure


def _work(frames: Frames) -> Chart:
    shown = []
    for title, (column, colour, symbol) in _ENTRIES.items():
        marker = {"symbol": symbol, "size": 9, "line": {"width": 0.8, "color": PAPER}}
        counts = frames.levels[column].astype(float)
        entries = pd.DataFrame({title: counts.where(counts > 0).to_numpy()}, frames.titles)
        shown += traces(entries, "points", colours={title: colour}, marker=marker)
    figure = _level_figure(shown, height=360, y="entries", hovermode="x unified")
    return chart("work", figure, others=frames.others)


def _token(frames: Frames) -> Chart:
    lengths = frames.lengths
    every = frames.sums("engines", [f"{name}_turns" for name in MODULES], "time").reindex(lengths.index, fill_value=0)
    rates = {}
    for name in MODULES:
        # It passes all AEs in each turn.
        turns = every[f"{name}_turns"] / frames.record.machine["engines"]
        if turns.any():
            together = int(np.ceil(_TURNS / max(float(turns[turns > 0].median()), 1e-9)))
            rates[f"{name} token"] = (1000 * _moving(turns, together) / _moving(lengths, together)).where(turns > 0, 0)
    colours = dict(zip((f"{name} token" for name in MODULES), (RUN_COLOURS[0], RUN_COLOURS[2]), strict=True))
    turns, form = at_ends(frames, pd.DataFrame(rates, lengths.index)), "%{y:.1f} turns in 1,000 cycles"
    turning = Band("turns in 1,000 cycles", traces(turns, "lines", form=form, colours=colours))
    waiting = _shares(frames, frames.machine[["slot"]]).set_axis(["kernels that wait for a slot"], axis=1)
    slots = traces(at_ends(frames, waiting), "areas", form="%{y:.1f} %", colours={waiting.columns[0]: COLOURS["slot"]})
    return _timed(frames, "token", turning, Band("% of the cycles", slots), height=440)


def _moving(values: pd.Series, columns: int) -> pd.Series:
    """Return the sums over so many columns around each, fewer at the ends."""
    before = np.concatenate([[0.0], values.cumsum()])
    places = np.arange(values.size)
    first, last = np.maximum(places - columns // 2, 0), np.minimum(places - columns // 2 + columns, values.size)
    return pd.Series(before[last] - before[first], values.index)


def _fifo_titles(frames: Frames) -> list[str]:
    return [f"{'int.' if kind.module == 'intersection' else kind.module} {kind.name}" for kind in frames.fifos]


def _fifo_kinds(frames: Frames) -> Chart:
    titles, kinds, shown = _fifo_titles(frames), frames.fifos, []
    for name, values, colour, width in (
        ("depth", [kind.depth for kind in kinds], GRID, 0.8),
        ("with reads in flight", [min(kind.needed, kind.depth) for kind in kinds], "#f7d9a0", 0.65),
        ("high-water mark", [kind.most for kind in kinds], SKY, 0.5),
        ("mean", [kind.mean for kind in kinds], BLUE, 0.25),
    ):
        looks = look("bars", colour, width=width, marker={"line": {**EDGE, "width": 0.5}})
        hover = f"{name}: %{{y:,.1f}} entries<extra>%{{x}}</extra>"
        bars = {"x": titles, "y": np.array(values, np.float32), "name": name}
        shown.append({**looks, **bars, "hovertemplate": hover})
    names = {"tickvals": titles, "ticktext": [title.replace(" ", "<br>", 1) for title in titles]}
    figure = new_figure(
        shown, height=340, y="entries", barmode="overlay", xaxis={"type": "category", "tickmode": "array", **names}
    )
    return chart("fifos", figure)


def _fifos_over_time(frames: Frames) -> Chart:
    record = frames.record
    table = record.frame("fifos")
    table["time"] = table["cycle"] // frames.width * frames.width
    found = table.groupby(["module", "fifo", "time"], observed=True).agg({"fill": "sum", "most": "max"})
    order = [(kind.module, kind.name) for kind in frames.fifos]
    depth = np.array([[kind.depth] for kind in frames.fifos])
    kernels = np.array([[record.kernels(kind.module)] for kind in frames.fifos])
    fill, most = (frames.over_time(found[name]).reindex(order).to_numpy(float) for name in ("fill", "most"))
    maps = {}
    for option, shares in (
        ("mean", fill / (depth * kernels * frames.lengths.to_numpy())),
        ("high-water mark", most / depth),
    ):
        hover = f"{option if option != 'mean' else 'mean fill'}: %{{z}} % of the depth"
        maps[option] = _percents(shares), hover, "% of the depth"
    figure = lapse(frames, _fifo_titles(frames), maps, height=180 + 28 * len(order))
    return chart("fifo-time", figure)


def _by_array(frames: Frames, column: str) -> pd.DataFrame:
    """Return a column of the arrays' table by column of time and array."""
    sums = frames.sums("arrays", [column], "array", "time")[column]
    return frames.over_time(sums).reindex(ARRAYS, fill_value=0).T


def _arrays(frames: Frames) -> Chart:
    both = (_by_array(frames, "reads") + _by_array(frames, "writes")).div(frames.lengths, axis=0)
    shown = traces(at_ends(frames, both), "areas", form="%{y:.2f} requests a cycle")
    return _timed(frames, "arrays", Band("requests a cycle", shown), height=360)


def _array_latencies(frames: Frames) -> Chart:
    reads = _by_array(frames, "reads")
    mean = _by_array(frames, "latency") / reads.where(reads > 0)
    shown = traces(at_ends(frames, mean), "lines", form="%{y:,.0f} cycles")
    return _timed(frames, "array-latency", Band("cycles", shown), height=320)


def _accesses_or_waiting(sums: pd.DataFrame, places: pd.Index, titles: Sequence[str], banks: int = 0) -> Figure:
    """Return stacked bars by array, of accesses or of waiting cycles; with the mean of so many banks as a line."""
    found = {}
    for name, axis, unit in (
        ("accesses", "accesses", "accesses"),
        ("waiting", "cycles waited for banks", "cycles waited"),
    ):
        values = sums[name].unstack("array", fill_value=0)
        own = values.reindex(index=places, columns=ARRAYS, fill_value=0).set_axis(list(titles))
        found[axis] = traces(own, "bars", form=f"%{{y:,.0f}} {unit}")
        if banks:
            mean = values.to_numpy().sum() / banks
            ends = {"x": list(titles), "y": np.full(len(titles), mean, np.float32), "hoverinfo": "skip"}
            line = look("lines", INK, line={"dash": "dash", "width": 1.5})
            found[axis].append({**line, **ends, "name": f"mean of all banks: {mean:,.0f}"})
    return _one_of(found, _WAITED, height=380)


def _arrays_of_levels(frames: Frames) -> Chart:
    sums = frames.sums("instruction_banks", _WAITED, "instruction", "array", rows=frames.levels)
    figure = _accesses_or_waiting(sums, frames.levels.index, frames.titles)
    return chart("array-levels", figure, others=frames.others)


def _hottest(frames: Frames) -> Chart:
    memory = frames.record.memory or {}
    banks = int(memory["controllers"]) * int(memory["banks"])
    sums = frames.sums("instruction_banks", _WAITED, "controller", "bank", "array")
    total = sums["accesses"].groupby(["controller", "bank"]).sum()
    hottest = total.sort_values(ascending=False, kind="stable").index[:_HOTTEST]
    figure = _accesses_or_waiting(sums, hottest, [f"c{controller} b{bank}" for controller, bank in hottest], banks)
    every = {evidence.module: busiest_bank(evidence) for evidence in evidence_of(frames.record)}
    busiest = "".join(f" {module.capitalize()}: {text}." for module, text in every.items() if text)
    return chart("hottest", figure, count=len(hottest), busiest=busiest)


def _busy(frames: Frames, kind: str, height: int) -> Chart:
    """Return heat maps of the utilisation of a kind of parts of the memory, and of the requests that wait for them."""
    part = memory_parts(frames.record)[kind]
    sizes = {**frames.record.machine, **(frames.record.memory or {})}
    every = [range(int(sizes[f"{key}s"])) for key in part.keys]
    places = pd.MultiIndex.from_product(every) if len(every) > 1 else pd.Index(every[0])
    sums = frames.sums(part.table, (part.noun, "waiting"), *part.keys, "time")
    used, waiting = (
        frames.over_time(sums[column]).reindex(places, fill_value=0).to_numpy(float) / frames.lengths.to_numpy()
        for column in (part.noun, "waiting")
    )
    maps = {
        "accesses": (_percents(part.busy * used), "busy: %{z} % of the cycles", "% busy"),
        "waiting": (waiting.astype(np.float32), "waiting on average: %{z:.1f} requests", "requests waiting"),
    }
    titles = ["AE" if key == "engine" else key for key in part.keys]
    rows = [", ".join(f"{title} {at}" for title, at in zip(titles, np.atleast_1d(row), strict=True)) for row in places]
    figure = lapse(frames, rows, maps, height=height)
    if len(every) > 1:
        figure.name_groups([(f"{titles[0]} {number}", len(every[1])) for number in every[0]], "y")
    return chart(f"{kind}s", figure, count=len(rows))


def _percents(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    return np.clip(np.rint(100 * shares), 0, 255).astype(np.uint8)


def _stalls(frames: Frames) -> Chart:
    shares = _shares(frames, frames.machine[["credit", "refused", "response"]])
    kernels = shares.set_axis([f"kernels: {TITLES[cause]}" for cause in shares], axis=1)
    colours = {f"kernels: {TITLES[cause]}": COLOURS[cause] for cause in shares}
    stalls = frames.sums("engines", ("read_stalls", "write_stalls"), "time").reindex(frames.lengths.index, fill_value=0)
    ports = _shares(frames, stalls) / (frames.record.kernels("bfs") if "bfs" in frames.modules else 1)
    names = {f"ports that took no {kind}": colour for kind, colour in (("read", BLUE), ("write", GREEN))}
    shown = traces(at_ends(frames, kernels), "lines", form="%{y:.1f} %", colours=colours)
    ports = at_ends(frames, ports.set_axis(list(names), axis=1))
    shown += traces(ports, "lines", form="%{y:.1f} %", colours=names, line={"dash": "dash"})
    return _timed(frames, "stalls", Band("% of the cycles", shown), height=360)


def _histogram(frames: Frames) -> Chart:
    counts = frames.sums("instruction_latencies", ["reads"], "phase", "latency")["reads"].unstack(
        "latency", fill_value=0
    )
    taken = counts.columns[counts.any()] if len(counts) else counts.columns
    low, high = (int(taken.min()), int(taken.max())) if len(taken) else (1, LONGEST_LATENCY)
    counts = counts.reindex(
        index=[name for name in PHASES if name in counts.index], columns=range(high + 1), fill_value=0
    )
    edges = np.unique(np.rint(np.geomspace(max(1, low), high + 1, _BINS + 1)).astype(np.int64))
    edges[0] = low
    shown = []
    for phase, values in counts.iterrows():
        if values.any():
            looks = look("joined", COLOURS[str(phase)], line={"shape": "hvh", "width": 2}, marker={"size": 4})
            bins = {"customdata": np.stack([edges[:-1], edges[1:] - 1], axis=1), "name": str(phase)}
            bins["x"] = (edges[:-1] + np.diff(edges) / 2).astype(np.float32)
            bins["y"] = np.add.reduceat(values.to_numpy(), edges[:-1])
            hover = f"%{{customdata[0]}} to %{{customdata[1]}} cycles: %{{y:,}} reads<extra>{phase}</extra>"
            shown.append({**looks, **bins, "hovertemplate": hover})
    ends = [0.9 * max(1, low), 1.1 * high]
    x, y = charts.log_axis(ends), charts.log_axis([1, 10, *(float(trace["y"].max()) for trace in shown)])
    figure = new_figure(
        shown,
        height=340,
        x="cycles from a read to its response",
        y="reads",
        showlegend=True,
        xaxis={**x, "range": np.log10(ends).tolist()},
        yaxis=y,
    )
    return chart("latencies", figure, longest=LONGEST_LATENCY)


def _latencies_of_levels(frames: Frames) -> Chart:
    sums = frames.sums("instruction_latencies", ["reads"], "instruction", "latency", rows=frames.levels)["reads"]
    counts = sums.unstack("latency", fill_value=0).reindex(
        index=frames.levels.index, columns=range(LONGEST_LATENCY + 1), fill_value=0
    )
    below = counts.cumsum(axis=1)
    total = below[LONGEST_LATENCY]
    shares = {"median": 0.5, "95 %": 0.95, "99 %": 0.99}
    latencies = {name: below.lt(share * total, axis=0).sum(axis=1).where(total > 0) for name, share in shares.items()}
    frame = pd.DataFrame(latencies).set_axis(frames.titles)
    colours = dict(zip(shares, (BLUE, ORANGE, VERMILION), strict=True))
    shown = traces(frame, "joined", form="%{y:,.0f} cycles", colours=colours, line={"width": 1.2}, marker={"size": 6})
    figure = _level_figure(shown, height=400, y="cycles", hovermode="x unified")
    return chart("latency-levels", figure, others=frames.others)


def _roof(frames: Frames) -> Chart:
    assert frames.roofline is not None
    shown = level_traces(frames.roofline, float(frames.record.document["clock_hz"]))
    figure = new_figure(shown, height=520, x=intensity_title(frames.roofline), y=THROUGHPUT, log="xy")
    return chart("roofline", figure)


def _limits(frames: Frames) -> Chart:
    assert frames.roofline is not None
    shown = limit_traces(frames.roofline)
    x, y = limit_axes()
    height = 100 + 28 * len(frames.roofline.totals)
    figure = new_figure(shown, height=height, xaxis={**x, "range": [0, 107]}, yaxis={**y, "automargin": True})
    return chart("limits", figure)


def _limits_of_levels(frames: Frames) -> Chart:
    roofline = frames.roofline
    assert roofline is not None
    searched = frames.instructions[frames.instructions["module"] == "bfs"]
    limits = pd.DataFrame(roofline.limits, searched.index, [LIMITS[name].title for name in roofline.bounds.names])
    colours = {LIMITS[name].title: LIMITS[name].colour for name in roofline.bounds.names} | {"taken": INK}
    if roofline.crossbar is not None:
        limits[CROSSBAR.title], colours[CROSSBAR.title] = roofline.crossbar, CROSSBAR.colour
    shown = frames.levels[frames.levels["module"] == "bfs"]
    limits = limits.loc[shown.index].assign(taken=shown["cycles"])
    titles = [title for title, module in zip(frames.titles, frames.levels["module"], strict=True) if module == "bfs"]
    drawn = []
    for name in ["taken", *limits.columns.drop("taken")]:
        length = min(40.0, 0.8 * charts.NARROWEST / len(titles)) * (1.0 if name == "taken" else 0.4)
        # The library draws it 1.4 times as long as its size.
        marker = {"symbol": "line-ew", "size": max(3.0, length) / 1.4, "line": {"color": colours[name], "width": 3}}
        shares = (100 * limits[name] / limits["taken"]).to_numpy(np.float32)
        hover = f"%{{x}}<br>{name}: %{{y:,}} cycles, %{{customdata:.0f}} %<extra></extra>"
        looks = look("points", colours[name], marker=marker)
        points = {"x": titles, "y": limits[name].to_numpy(), "customdata": shares, "name": name}
        drawn.append({**looks, **points, "hovertemplate": hover})
    figure = _level_figure(drawn, height=460, y="cycles")
    return chart("limit-levels", figure, others=frames.others)
