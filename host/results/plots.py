"""What all plots share: colours, and SVG files that are equal when their data are."""

from pathlib import Path
from typing import TYPE_CHECKING

from host.output import open_output

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BLACK", "BLUE", "GREEN", "ORANGE", "PURPLE", "SKY", "VERMILION", "new_figure", "power_text", "write_plot"]

# The colours of Okabe and Ito (2008), which colour-blind readers tell apart.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"


def new_figure(*, width: float, height: float) -> "Figure":
    """Return an empty figure.

    Parameters
    ----------
    width, height : float
        Size in inches.
    """
    # Imported late: only who draws needs it.
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def power_text(number: int) -> str:
    """Return a power of two as a plot shows it, with a raised exponent."""
    return f"$2^{{{number.bit_length() - 1}}}$"


def write_plot(figure: "Figure", path: Path) -> None:
    """Write a figure as SVG, without a date and with stable names.

    Raises
    ------
    InputError
        The file could not be written.
    """
    import matplotlib

    with (
        open_output(str(path)) as file,
        matplotlib.rc_context({"svg.hashsalt": "cyscc", "svg.fonttype": "none"}),
    ):
        figure.savefig(file, format="svg", metadata={"Date": None})
