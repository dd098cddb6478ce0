"""Table 2 of Quach et al. 2012 as a plot: the ratio to Tarjan's algorithm against edges a vertex."""

from typing import TYPE_CHECKING, Any

from host.results.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, new_figure
from host.studies.points import grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["table2_figure"]

_COLOURS = (BLACK, ORANGE, GREEN, BLUE, VERMILION)


def table2_figure(document: dict[str, Any]) -> "Figure":
    """Return the plot: a line for each number of vertices, and the text's dashed.

    Parameters
    ----------
    document : dict
        What `host.studies.quach_table2.document.table2_document` returned.
    """
    figure = new_figure(width=7, height=4.5)
    axes = figure.subplots()
    for colour, ((vertices,), rows) in zip(_COLOURS, grouped(document["rows"], "vertices").items(), strict=False):
        degrees = [row["edges"] / vertices for row in rows]
        for name, style, ratios in (
            ("", "-", [row["ratio"] for row in rows]),
            (", text", "--", [row["paper"]["ratio"] for row in rows]),
        ):
            shown = [(degree, ratio) for degree, ratio in zip(degrees, ratios, strict=True) if ratio > 0]
            axes.plot(
                [degree for degree, _ in shown],
                [ratio for _, ratio in shown],
                color=colour,
                linestyle=style,
                marker="o" if style == "-" else "s",
                markersize=4,
                label=f"n = {vertices:,}{name}",
            )
    axes.axhline(1, color="0.5", linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("edges a vertex, m / n")
    axes.set_ylabel("time of tarjan / time of quach")
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure
