"""Rooflines made by hand."""

import numpy as np

from cyscc.host.analysis.roofline.analysis import Roofline
from cyscc.host.analysis.roofline.limits import Bounds
from cyscc.host.specification.run import RunSpec, Setting
from cyscc.sim.configuration import PRESETS
from cyscc.sim.memory import parse_profile

SETTING = Setting(
    spec=RunSpec(algorithm="bfs", graph="g.gr", config="hc2-1ae", memory="fixed:75", threads=1),
    vertices=100,
    edges=1000,
    clock_hz=150e6,
    uploaded_bytes=1,
)


def bounds_of(config: str, memory: str) -> Bounds:
    """Return the bounds of a preset with a memory profile."""
    return Bounds(PRESETS[config], parse_profile(memory))


def roofline_of(
    levels: list[tuple[int, int, int, list[int]]], *, memory: str = "fixed:75", crossbar: list[int] | None = None
) -> Roofline:
    """Return the roofline of levels, each given by edges, requests, cycles and its limits; and by the crossbar's."""
    edges, requests, cycles, limits = zip(*levels, strict=True)
    return Roofline(
        bounds=bounds_of("hc2-1ae", memory),
        edges=np.array(edges, np.int64),
        requests=np.array(requests, np.int64),
        cycles=np.array(cycles, np.int64),
        limits=np.array(limits, np.int64),
        crossbar=None if crossbar is None else np.array(crossbar, np.int64),
    )
