"""The tables of records."""

from host.record.tables import MODULES
from sim.executors import samples


def test_modules_are_those_of_the_samples() -> None:
    assert MODULES == samples.MODULES
