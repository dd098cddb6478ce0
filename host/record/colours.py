"""The colour of everything that a record tells apart: the same on pages, in plots and in the terminal.

Work is blue, the darker the later in a kernel's chain of processes; limits are yellow, orange and brown; idle cycles
are grey; what is outside of the runs that count is pale or purple. Every two causes differ also for those who do not
tell red from green, or blue from yellow.
"""

from sim.observation.causes import CAUSES

__all__ = ["ARRAY_COLOURS", "CAUSE_COLOURS", "PHASE_COLOURS", "RUN_COLOURS", "STACK"]

CAUSE_COLOURS = {
    "issue_1": "#9bd0f5",
    "issue_2": "#4d9be6",
    "issue_3": "#1f5fc4",
    "write": "#0b2a6b",
    "resting": "#fff0a8",
    "response": "#ffd96b",
    "credit": "#f7a83e",
    "refused": "#e8601c",
    "slot": "#7a2500",
    "flush": "#54544f",
    "no_work": "#868680",
    "ending": "#b2b2aa",
    "starting": "#d6d6cf",
    "host": "#c993bd",
    "not_running": "#fbf4fa",
    "restarted": "#3b0a45",
}
"""Colour of each cause, as `#rrggbb`."""

STACK = tuple(sorted((cause.name for cause in CAUSES), key=[*CAUSE_COLOURS].index))
"""The causes from the bottom of a stack to its top: work, limits, idle, outside."""

# Those of Okabe and Ito (2008), which colour-blind readers tell apart.
ARRAY_COLOURS = {
    "words": "#0072B2",
    "neighbours": "#E69F00",
    "queues": "#009E73",
    "colours": "#CC79A7",
    "other": "#999999",
}
"""Colour of each array that an access can be to."""

PHASE_COLOURS = {"forward": "#56B4E9", "backward": "#E69F00", "intersection": "#009E73"}
"""Colour of each phase."""

RUN_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of the runs that are compared, in their order; more runs begin anew."""
