"""Elements shared by all plots: colours, panels, and reproducible files."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from cyscc.host.output.files import figure_format, open_output

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of Okabe and Ito (2008), which colour-blind readers can tell apart.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#868680"

MARKERS = "osD^vP*Xhd<>"
"""Markers of series, besides their colours."""


def new_figure(*, width: float, height: float) -> "Figure":
    """Return an empty figure.

    Parameters
    ----------
    width, height : float
        Size in inches.
    """
    # Imported here, since only commands that draw need it.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def power_text(number: int) -> str:
    """Return a power of two in a plot's notation, with a superscript exponent."""
    return f"$2^{{{number.bit_length() - 1}}}$"


def draw_plot(draw: "Callable[[], Figure]", file: "BinaryIO", form: str) -> "Figure":
    """Draw a figure, write it to a file in a format, and return it, regardless of the user's matplotlib settings."""
    import logging

    # Where the user has no home, it warns of a temporary folder for its settings, which have no effect.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "cyscc", "svg.fonttype": "none"})
        # A graph's name may have letters that the font lacks; they are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure = draw()
        figure.savefig(file, format=form, metadata={"CreationDate" if form == "pdf" else "Date": None})
    return figure


def write_plot(draw: "Callable[[], Figure]", path: str) -> "Figure":
    """Draw a figure, write it in the format of the path's suffix, and return it.

    Raises
    ------
    InputError
        The format is unknown, or the file could not be written.
    """
    form = figure_format(path)
    with open_output(path) as file:
        return draw_plot(draw, file, form)


_COLUMNS = 2
_WHOLE = 100
"""Milliseconds from which on a label has no decimals."""


def time_text(milliseconds: float) -> str:
    """Return a time with three significant digits, or an integer from 100 milliseconds on."""
    return f"{milliseconds:,.0f}" if milliseconds >= _WHOLE else f"{milliseconds:.3g}"


def lettered(texts: Iterable[str]) -> list[str]:
    """Return titles with a letter before each: (a), (b), and so on."""
    return [f"({chr(ord('a') + number)}) {text}" for number, text in enumerate(texts)]


def panel_grid(
    titles: Sequence[str], *, row: float = 3.4, rest: float = 0.7, sharey: bool = False
) -> "tuple[Figure, list[Axes]]":
    """Return a figure with a panel for each title.

    Parameters
    ----------
    titles : sequence of str
        Titles of the panels, row by row.
    row, rest : float
        Height of a row of panels, and of everything else, in inches.
    sharey : bool
        Whether the panels share their vertical axis.
    """
    rows = -(-len(titles) // _COLUMNS)
    figure = new_figure(width=10, height=row * rows + rest)
    panels = figure.subplots(rows, _COLUMNS, squeeze=False, sharey=sharey).flatten()
    for axes in panels[len(titles) :]:
        axes.remove()
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(title)
    return figure, list(panels[: len(titles)])


def degree_axis(axes: "Axes", degrees: Sequence[int]) -> None:
    """Label the horizontal axis with average degrees, at the positions 0, 1 and so on."""
    axes.set(xlabel="average degree", axisbelow=True)
    axes.set_xticks(range(len(degrees)), [str(degree) for degree in degrees])
    axes.grid(axis="y", color="0.85")


def log_axis(axes: "Axes", which: str) -> None:
    """Make the axis `which`, x or y, logarithmic, with plain numbers at its ticks; the data are already drawn."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    axis.set_major_formatter(StrMethodFormatter("{x:,.9g}"))
    axis.set_minor_formatter(NullFormatter())


def row_axis(axes: "Axes", names: Sequence[str]) -> None:
    """Label the vertical axis with names, in rows from the top; what is in them is compared along the other axis."""
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color="0.88")
    for number in range(1, len(names)):
        axes.axhline(number - 0.5, color="0.88", linewidth=0.8)


def row_places(rows: int, place: int, series: int) -> list[float]:
    """Return where the points of a series are in rows: beside those of the other series, which they would hide.

    Parameters
    ----------
    rows : int
        Number of rows.
    place : int
        Place of the series among the others.
    series : int
        Number of series.
    """
    shift = 0.6 * ((place + 0.5) / series - 0.5)
    return [number + shift for number in range(rows)]


def add_legend(figure: "Figure", columns: int) -> None:
    """Add a legend with each series once, over all panels."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=columns, frameon=False)
