"""Colours of causes, arrays, phases and runs: the same on pages, in plots and in the terminal.

Work is blue, and darker for later processes of a kernel; limits are yellow, orange and brown; idle cycles are grey;
cycles outside of instructions are pale or purple. Any two causes are distinguishable also with red-green or blue-yellow
colour blindness. On terminals of 16 colours two causes that only a machine with an exchange has share a colour with
another one, and differ in their letters.
"""

from cyscc.sim.coprocessor import ArrayKind
from cyscc.sim.observation.causes import CAUSES, KINDS

CAUSE_FAMILIES = {
    "work": ("#a0cdf8", "#5b86f0", "#0a5fa8", "#1b2a6d", "#0000cc", "#4d4dff"),
    "limit": ("#f5edb0", "#ffc400", "#de8a35", "#b74d1a", "#701705", "#7b503d", "#261c0d"),
    "idle": ("#44403f", "#696b66", "#96948f", "#bcc2bb", "#161612"),
    "outside": ("#b07cab", "#f4f4ff", "#28082b", "#e996c6"),
}
"""Colours of each kind of causes by shade, as `#rrggbb`; the last ones of each kind are reserved for causes to be
added."""

CAUSE_COLOURS = {cause.name: CAUSE_FAMILIES[cause.kind][cause.shade] for cause in CAUSES}
"""Colour of each cause."""

_TERMINAL_FAMILIES = {
    "work": ("bright_cyan", "cyan", "bright_blue", "blue"),
    "limit": ("bright_yellow", "yellow", "bright_red", "red", "magenta"),
    "idle": ("bright_black", "white", "black", "bright_white"),
    "outside": ("bright_magenta", "bright_green", "green"),
}
TERMINAL_COLOURS = {
    cause.name: _TERMINAL_FAMILIES[cause.kind][cause.shade]
    for cause in CAUSES
    if cause.shade < len(_TERMINAL_FAMILIES[cause.kind])
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
