"""The colours of causes: complete, and told apart by everybody."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from cyscc.host.record.colours import ARRAY_COLOURS, CAUSE_COLOURS, CAUSE_FAMILIES, PHASE_COLOURS, STACK
from cyscc.host.record.tables import ARRAYS, PHASES
from cyscc.sim.observation.causes import CAUSES, cause_named

# What the eye makes of linear red, green and blue (Machado, Oliveira, Fernandes 2009, severity 1).
VISIONS = {
    "all": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(colour: str, vision: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return a colour in CIELAB, as a vision has it."""
    values = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(vision @ linear, 0, 1) / (TO_XYZ @ np.ones(3))
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
def test_every_two_causes_differ_for_every_eye(vision: str) -> None:
    colours = [colour for family in CAUSE_FAMILIES.values() for colour in family]
    lab = {colour: seen(colour, VISIONS[vision]) for colour in colours}
    close = {(a, b): float(np.linalg.norm(lab[a] - lab[b])) for a, b in combinations(lab, 2)}
    assert {pair: distance for pair, distance in close.items() if distance < 9} == {}


def test_everything_has_a_colour() -> None:
    assert len(set(CAUSE_COLOURS.values())) == len(CAUSES)
    assert set(ARRAY_COLOURS) == set(ARRAYS)
    assert set(PHASE_COLOURS) == set(PHASES)


def test_a_stack_goes_from_work_to_what_is_outside() -> None:
    kinds = [cause_named(name).kind for name in STACK]
    assert kinds == sorted(kinds, key=["work", "limit", "idle", "outside"].index)
    assert len(set(STACK)) == len(CAUSES)
