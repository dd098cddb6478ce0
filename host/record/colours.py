"""Colours of causes, arrays, phases and runs: the same on pages, in plots and in the terminal.

Work is blue, and darker for later processes of a kernel; limits are yellow, orange and brown; idle cycles are grey;
cycles outside of instructions are pale or purple. Any two causes are distinguishable also with red-green or blue-yellow
colour blindness.
"""

from cyscc.sim.coprocessor import ArrayKind
from cyscc.sim.observation.causes import CAUSES, KINDS

__all__ = ["ARRAY_COLOURS", "CAUSE_COLOURS", "CAUSE_FAMILIES", "PHASE_COLOURS", "RUN_COLOURS", "STACK"]

CAUSE_FAMILIES = {
    "work": ("#9bd0f5", "#4d9be6", "#1f5fc4", "#0b2a6b", "#0022cc", "#145266"),
    "limit": ("#fff0a8", "#ffd96b", "#f7a83e", "#e8601c", "#7a2500", "#b26247", "#59251b"),
    "idle": ("#54544f", "#868680", "#b2b2aa", "#d6d6cf", "#2b2b2b"),
    "outside": ("#c993bd", "#fbf4fa", "#3b0a45", "#8c548c"),
}
"""Colours of each kind of causes by shade, as `#rrggbb`; the last ones of each kind are reserved for causes to be
added."""

CAUSE_COLOURS = {cause.name: CAUSE_FAMILIES[cause.kind][cause.shade] for cause in CAUSES}
"""Colour of each cause."""

STACK = tuple(cause.name for cause in sorted(CAUSES, key=lambda cause: (KINDS.index(cause.kind), cause.shade)))
"""The causes from the bottom of a stack to its top: work, limits, idle, outside."""

# Colours of Okabe and Ito (2008), which colour-blind readers can tell apart.
_ARRAYS = ("#999999", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
ARRAY_COLOURS = {kind.name.lower(): colour for kind, colour in zip(ArrayKind, _ARRAYS, strict=False)}
"""Colour of each array."""

PHASE_COLOURS = {"forward": "#56B4E9", "backward": "#E69F00", "intersection": "#009E73"}
"""Colour of each phase."""

RUN_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of compared runs, in their order; with more runs they repeat."""
