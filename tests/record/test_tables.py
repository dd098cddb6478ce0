"""The tables of records."""

from cyscc.host.record.tables import MODULES
from cyscc.sim.executors import samples


def test_modules_are_those_of_the_samples() -> None:
    assert MODULES == samples.MODULES
