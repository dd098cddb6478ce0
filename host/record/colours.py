"""The colour of everything that a record tells apart: the same on pages, in plots and in the terminal.

Work is blue, the darker the later in a kernel's chain of processes; limits are yellow, orange and brown; idle cycles
are grey; what is outside of the runs that count is pale or purple. Every two causes differ also for those who do not
tell red from green, or blue from yellow.
"""

from sim.coprocessor import ArrayKind
from sim.observation.causes import CAUSES, KINDS

__all__ = ["ARRAY_COLOURS", "CAUSE_COLOURS", "CAUSE_FAMILIES", "PHASE_COLOURS", "RUN_COLOURS", "STACK"]

CAUSE_FAMILIES = {
    "work": ("#9bd0f5", "#4d9be6", "#1f5fc4", "#0b2a6b", "#0022cc", "#145266"),
    "limit": ("#fff0a8", "#ffd96b", "#f7a83e", "#e8601c", "#7a2500", "#b26247", "#59251b"),
    "idle": ("#54544f", "#868680", "#b2b2aa", "#d6d6cf", "#2b2b2b"),
    "outside": ("#c993bd", "#fbf4fa", "#3b0a45", "#8c548c"),
}
"""Colours of the causes of each kind by their shades, as `#rrggbb`; those at the ends are for causes to come."""

CAUSE_COLOURS = {cause.name: CAUSE_FAMILIES[cause.kind][cause.shade] for cause in CAUSES}
"""Colour of each cause."""

STACK = tuple(cause.name for cause in sorted(CAUSES, key=lambda cause: (KINDS.index(cause.kind), cause.shade)))
"""The causes from the bottom of a stack to its top: work, limits, idle, outside."""

# Those of Okabe and Ito (2008), which colour-blind readers tell apart.
_ARRAYS = ("#999999", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
ARRAY_COLOURS = {kind.name.lower(): colour for kind, colour in zip(ArrayKind, _ARRAYS, strict=False)}
"""Colour of each array that an access can be to."""

PHASE_COLOURS = {"forward": "#56B4E9", "backward": "#E69F00", "intersection": "#009E73"}
"""Colour of each phase."""

RUN_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of the runs that are compared, in their order; more runs begin anew."""
