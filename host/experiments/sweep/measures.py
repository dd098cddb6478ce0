"""Definitions common to the command line, Python and plots of sweeps: results to show, and the suffix of studies."""

from dataclasses import dataclass

__all__ = ["MEASURES", "SUFFIX", "Measure"]

SUFFIX = ".toml"
"""Suffix of a study; other inputs of a sweep are graphs."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A result as the axis of a plot.

    Parameters
    ----------
    column : str
        Its column in the table.
    label : str
        Label of the axis, with the unit.
    factor : float
        Factor from the column to the unit.
    """

    column: str
    label: str
    factor: float = 1.0


MEASURES = {
    "cycles": Measure(column="cycles", label="cycles"),
    "gteps": Measure(column="gteps", label="throughput (GTEPS)"),
    "seconds": Measure(column="seconds", label="simulated time (ms)", factor=1e3),
}
"""Results by name; the first is the default."""
