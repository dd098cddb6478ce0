"""Colours of causes, arrays, phases and runs: the same on pages, in plots and in the terminal.

Work is blue, and darker for later processes of a kernel; limits are yellow, orange and brown; idle cycles are grey;
cycles outside of instructions are pale or purple. Any two causes are distinguishable also with red-green or blue-yellow
colour blindness. On terminals of 16 colours two causes that only a machine with an exchange has share a colour with
another one, and differ in their letters.
"""

import tomllib
from pathlib import Path

from cyscc.sim.coprocessor import ArrayKind
from cyscc.sim.observation.causes import CAUSES, KINDS

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CAUSE_FAMILIES: dict[str, list[str]] = _TABLE["families"]
"""Colours of each kind of causes by shade, as `#rrggbb`; the last ones of each kind are reserved for causes to be
added."""

CAUSE_COLOURS = {cause.name: CAUSE_FAMILIES[cause.kind][cause.shade] for cause in CAUSES}
"""Colour of each cause."""

TERMINAL_COLOURS: dict[str, str] = {
    cause.name: family[cause.shade] for cause in CAUSES if cause.shade < len(family := _TABLE["terminal"][cause.kind])
}
"""Colour of each cause on terminals of 16 colours; a cause without one has the nearest to its own."""

STACK = tuple(cause.name for cause in sorted(CAUSES, key=lambda cause: (KINDS.index(cause.kind), cause.shade)))
"""The causes from the bottom of a stack to its top: work, limits, idle, outside."""

# The colours of Okabe and Ito (2008), which colour-blind readers can tell apart.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#868680"

_ARRAYS = ("#999999", BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
ARRAY_COLOURS = {kind.name.lower(): colour for kind, colour in zip(ArrayKind, _ARRAYS, strict=False)}
"""Colour of each array."""

PHASE_COLOURS = {"forward": SKY, "backward": ORANGE, "intersection": GREEN}
"""Colour of each phase."""

RUN_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
"""Colours of compared runs, in their order; with more runs they repeat."""
