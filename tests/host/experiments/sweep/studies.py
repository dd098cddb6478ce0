"""Studies that are cheap: the small machine, which is built anyway, and parameters that need no other."""

from pathlib import Path

from cyscc.host.experiments.sweep.definition import SweepStudy, read_study

SMALL = """
title = "Banks"
config = "test"
graph.vertices = "2^5"
graph.degree = 4
seed = 1
[grid]
memory.bank_busy = [5, 40]
"""
"""Two points."""


def study_of(text: str, name: str = "study.toml") -> SweepStudy:
    """Return the study of a text, which is written to a file of the working directory."""
    path = Path(name)
    path.write_text(text)
    return read_study(path)
