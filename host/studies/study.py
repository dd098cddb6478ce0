"""A table or figure of the paper, as `cyscc reproduce` offers it."""

import argparse
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from host.measuring.measurements import Measurements
    from host.studies.report import Report

__all__ = ["Study"]


@dataclass(frozen=True)
class Study:
    """What is measured and shown. It is there before anything is imported that takes long.

    Parameters
    ----------
    name : str
        Its name on the command line, and that of its files.
    title : str
        What its paper calls it.
    text : str
        What it shows.
    options : callable
        Adds its own options to a parser.
    make : callable
        Measures and returns the report; imports what takes long.
    simulated : bool
        Whether machines are simulated, which have a memory.
    """

    name: str
    title: str
    text: str
    _: KW_ONLY
    options: Callable[[argparse.ArgumentParser], None]
    make: "Callable[[Measurements, argparse.Namespace], Report]"
    simulated: bool = True
