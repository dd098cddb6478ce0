"""Pivots are drawn at random among the vertices without a component."""

import numpy as np

from host.devices import Device, DeviceArray

__all__ = ["Lots"]

_TRIES = 8
"""Draws, after which the vertices are listed anew: nearly always at least half of them have got a component then."""


class Lots:
    """The vertices without a component, or a list of before with some more.

    Parameters
    ----------
    device : Device
        The device.
    component : array of int32, shape (n,)
        Below 0 for a vertex without one.
    seed : int
        Of the draws.
    """

    def __init__(self, device: Device, component: DeviceArray, seed: int) -> None:
        self._device = device
        self._component = component
        self._random = np.random.default_rng(seed)
        self.renew()

    @property
    def left(self) -> int:
        """How many vertices are listed."""
        return self._vertices.size

    def renew(self) -> None:
        """List the vertices anew."""
        self._vertices = np.flatnonzero(self._device.read(self._component) < 0)

    def draw(self) -> int | None:
        """Return one of the vertices without a component, each as likely as the others; None when there is none."""
        while self._vertices.size:
            for place in self._random.integers(self._vertices.size, size=_TRIES).tolist():
                vertex = int(self._vertices[place])
                if self._device.value(self._component, vertex) < 0:
                    return vertex
            self.renew()
        return None
