"""Memory profiles beside an established DRAM simulator: the same traffic through the profile alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cyscc.host.answer import charts
from cyscc.host.answer.answer import Answer, Chart
from cyscc.host.answer.charts import Figure, Panel, look
from cyscc.host.answer.colours import BLUE, ORANGE
from cyscc.host.experiments.plan.plan import Plan
from cyscc.host.experiments.studies.rows import PUBLISHED, printed
from cyscc.host.experiments.studies.study import Point, Told
from cyscc.host.output.errors import InputError
from cyscc.host.record.traffic import read_traffic
from cyscc.sim.memory import Profile, parse_profile
from cyscc.sim.memory.alone import play
from cyscc.sim.trust import GivenText

_BASE = 1 << 30
"""First address of the traffic."""

FIGURES = ("rate_per_clock", "read_mean_clocks", "read_p95_clocks", "row_hit_share")
"""Fields of `Played` and of the reference that are compared."""


class Traffic(NamedTuple):
    """Requests: byte addresses, which are writes, and clocks of arrival, none for so many outstanding ones."""

    addresses: npt.NDArray[np.int64]
    writes: npt.NDArray[np.bool_]
    clocks: npt.NDArray[np.int64] | None


def traffic_of(row: Mapping[str, Any]) -> Traffic:
    """Return the traffic of a row of the reference: drawn from its seed, as when the reference was measured."""
    count, generator = row["requests"], np.random.default_rng(row["seed"])
    number = np.arange(count)
    match row["pattern"]:
        case "random 8 B, 1 GiB":
            places = 8 * generator.integers(0, 1 << 27, count)
        case "random 8 B, 2 MiB":
            places = 8 * generator.integers(0, 1 << 18, count)
        case "64 streams 8 B":
            places = (8 * generator.integers(0, 1 << 26, 64))[number % 64] + 8 * (number // 64)
        case _:
            places = {"sequential 8 B": 8, "sequential 32 B": 32, "stride 64 B": 64}[row["pattern"]] * number
    writes = generator.random(count) < row["write_share"]
    clocks = None
    if not row["outstanding"]:
        last = int(count / row["offered_per_clock"])
        clocks = np.sort(np.random.default_rng(row["seed"] + 1).integers(0, last, count))
    return Traffic(_BASE + places, writes, clocks)


def _figure(document: dict[str, Any]) -> Figure:
    """Return latency against rate for each memory: the curve of random reads, reference and profile."""
    parts = []
    for memory in dict.fromkeys(point["memory"] for point in document["points"]):
        rows = [each for each in document["points"] if each["memory"] == memory and each["in_curve"]]
        shown = []
        for side, colour, symbol in (("reference", ORANGE, "circle"), ("profile", BLUE, "x")):
            found = sorted((each[side]["rate_per_clock"], each[side]["read_mean_clocks"]) for each in rows)
            x, y = ([point[axis] for point in found] for axis in (0, 1))
            marker = {"symbol": symbol, "size": 8}
            shown.append({**look("joined", colour, marker=marker), "name": side, "x": x, "y": y})
        rate = {"title": "completed requests per clock", "rangemode": "tozero"}
        latency = {"title": "mean latency of reads (clocks)", "rangemode": "tozero"}
        parts.append(Panel(f"{memory}: random reads of 8 bytes", shown, rate, latency))
    return charts.panels(parts)


@dataclass(frozen=True, kw_only=True)
class Dram(Told):
    """Traffic through memory profiles alone, beside the reference, or of a file.

    Parameters
    ----------
    memory : str
        A profile; of the reference, with overrides; empty for all that the reference has.
    requests : str or None
        A file of requests to play instead, see `cyscc.host.record.traffic`.
    outstanding : int or None
        Of a file: so many requests under way at a time, whatever their clocks.
    """

    memory: str
    requests: str | None
    outstanding: int | None

    figure_of = staticmethod(_figure)

    def document(self, measurements: Plan) -> dict[str, Any]:
        """Play the traffic of the reference, and return the study's document."""
        rows = printed("dram", texts=("memory", "pattern"), folder=PUBLISHED)
        given = parse_profile(GivenText(self.memory)) if self.memory else None
        rows = [row for row in rows if given is None or row["memory"] == given.name]
        if not rows:
            raise InputError(f"the reference has no memory {given}: give --requests FILE, or one of hbm2, ddr4")
        points = [_compared(row, given or parse_profile(row["memory"])) for row in rows]
        return {**self.head({}), "points": points}

    def answer(self, measurements: Plan) -> Answer:
        """Play the traffic, and return the answer."""
        if self.requests is None:
            return super().answer(measurements)
        return _played(parse_profile(GivenText(self.memory or "hbm2")), self.requests, self.outstanding or 0)


def _compared(row: Mapping[str, Any], profile: Profile) -> Point:
    """Return both sides of a row."""
    addresses, writes, clocks = traffic_of(row)
    own = replace(profile, entries=row["entries"])  # type: ignore[call-arg]  # all that the reference has have these
    found = play(own, addresses, writes, clocks=clocks, outstanding=row["outstanding"])
    sides = {
        "reference": {name: row[name] for name in FIGURES},
        "profile": {name: getattr(found, name) for name in FIGURES},
    }
    about = {name: value for name, value in row.items() if name not in FIGURES}
    load = f"{row['outstanding']:,} outstanding" if row["outstanding"] else f"{row['offered_per_clock']:g} a clock"
    ratios = {name: sides["profile"][name] / sides["reference"][name] for name in FIGURES[:2]}
    curve = row["pattern"] == "random 8 B, 1 GiB" and not row["write_share"] and row["entries"] == profile.entries  # type: ignore[attr-defined]
    return {**about, "load": load, **sides, "ratio": ratios, "in_curve": curve}


def _played(profile: Profile, path: str, outstanding: int) -> Answer:
    """Return what the requests of a file meet."""
    rows = read_traffic(path, clocks=not outstanding)
    addresses = rows["address"].to_numpy()
    try:
        if "channel" in rows:
            addresses = profile.with_channel(addresses, rows["channel"].to_numpy())
        clocks = None if outstanding else rows["clock"].to_numpy()
        found = play(profile, addresses, rows["write"].to_numpy(), clocks=clocks, outstanding=outstanding)
    except ValueError as error:
        raise InputError(str(error), path=path) from None
    hits = "" if found.row_hit_share is None else f"; {found.row_hit_share:.1%} of all need no activate of their own"
    ordered = np.sort(found.latencies)
    shares = np.linspace(0, 1, 201)
    at = ordered[np.minimum((shares * ordered.size).astype(np.int64), ordered.size - 1)]

    def draw() -> Figure:
        shown = [{**look("lines", BLUE), "name": str(profile), "x": at.tolist(), "y": (100 * shares).tolist()}]
        return charts.new_figure(shown, height=360, x="latency (clocks)", y="% of the requests")

    return Answer(
        title=f"{path}: {len(rows):,} requests through {profile} alone",
        facts={
            "load": f"{outstanding:,} outstanding" if outstanding else "at the clocks of the file",
            "completed": f"{found.rate_per_clock:.3f} a clock",
            "reads": f"{found.read_mean_clocks:.1f} clocks on average, 95 % within {found.read_p95_clocks:.0f}{hits}",
        },
        fields={
            "figure": "dram",
            "memory": profile.describe(),
            "requests": path,
            "outstanding": outstanding,
            **{name: getattr(found, name) for name in FIGURES},
        },
        charts={"figure": Chart("latencies of the requests", draw)},
    )
