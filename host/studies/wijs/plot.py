"""Table 1 of Wijs et al. 2014 as a plot: speed-up over Tarjan's algorithm, here and in the paper."""

from typing import TYPE_CHECKING, Any

from host.results.plots import BLUE, GREEN, ORANGE, PURPLE, SKY, add_legend, panel_grid
from host.studies.wijs.document import TARJAN
from host.studies.wijs.published import CONFIGURATIONS, TABLE1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["table1_figure"]

_WIDTH = 0.16


def table1_figure(document: dict[str, Any]) -> "Figure":
    """Return a panel of each side: for each model a bar of each configuration.

    Parameters
    ----------
    document : dict
        What `host.studies.wijs.document.table1_document` returned.
    """
    sides = {
        f"here: {document['device']}": {
            row["model"]: [row["seconds"][TARJAN] / row["seconds"][name] for name in CONFIGURATIONS]
            for row in document["rows"]
        },
        "paper: NVIDIA K20m": {
            row.model.partition(".")[0]: [row.tarjan / seconds for seconds in row.fbt] for row in TABLE1
        },
    }
    figure, panels = panel_grid(list(sides), row=4.2)
    for axes, models in zip(panels, sides.values(), strict=True):
        for place, (name, colour) in enumerate(zip(CONFIGURATIONS, (BLUE, ORANGE, GREEN, PURPLE, SKY), strict=True)):
            axes.bar(
                [number + (place - 2) * _WIDTH for number in range(len(models))],
                [values[place] for values in models.values()],
                _WIDTH,
                color=colour,
                label=name,
            )
        axes.set_xticks(range(len(models)), list(models), rotation=40, ha="right")
        axes.set_yscale("log")
        axes.axhline(1, color="0.5", linewidth=1)
        axes.set_ylabel("speed-up over Tarjan")
    add_legend(figure, len(CONFIGURATIONS))
    return figure
