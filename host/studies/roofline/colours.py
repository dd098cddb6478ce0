"""The colours of limits, in plots and on pages."""

__all__ = ["CROSSBAR_COLOUR", "LIMIT_COLOURS"]

LIMIT_COLOURS = {
    "ports": "#0072B2",
    "imbalance": "#56B4E9",
    "links": "#009E73",
    "busiest_link": "#B8E3D2",
    "channels": "#8C6D31",
    "busiest_channel": "#D9C08A",
    "rows": "#5E3C99",
    "refresh": "#B2ABD2",
    "banks": "#E69F00",
    "busiest_bank": "#D55E00",
    "outstanding": "#CC79A7",
    "ring": "#F0E442",
    "overhead": "#999999",
}
"""Of each limit: those of Okabe and Ito, which colour-blind readers can tell apart. Banks with rows have two browns and
two violets besides."""

CROSSBAR_COLOUR = "#7A2500"
"""Of the crossbar's queues."""
