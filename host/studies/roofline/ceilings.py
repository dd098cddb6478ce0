"""The ceilings of the roofline plot: throughput against edges per request."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from host.studies.roofline.limits import Bounds
from sim.latencies import READS_PER_EDGE, WRITES_PER_VISIT

__all__ = ["HIGHEST_INTENSITY", "Ceiling", "ceilings"]

HIGHEST_INTENSITY = 1 / READS_PER_EDGE
"""Edges per request when nothing but edges is read: no search has more."""


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """What one limit allows at each intensity, work being evenly shared.

    Parameters
    ----------
    name : str
        The limit, one of `host.studies.roofline.limits.LIMITS`.
    edge_cost : Fraction
        Least cycles for an edge's two reads, shared by the whole machine.
    other_cost : Fraction
        Least cycles for each request besides, shared likewise.
    """

    name: str
    edge_cost: Fraction
    other_cost: Fraction

    @property
    def reads(self) -> float:
        """Most reads a cycle."""
        return float(READS_PER_EDGE / self.edge_cost)

    def edges(self, intensity: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the most edges a cycle.

        Parameters
        ----------
        intensity : ndarray of float64
            Edges per request, above 0, at most `HIGHEST_INTENSITY`.
        """
        return 1 / (float(self.edge_cost) + (1 / intensity - READS_PER_EDGE) * float(self.other_cost))


def ceilings(bounds: Bounds) -> tuple[Ceiling, ...]:
    """Return the ceilings of a machine: ports, and where the memory profile models them links and banks.

    Of banks with rows: what the pseudo-channels' data buses carry in the time that refresh leaves, and the same where
    each request opens a row.
    """
    kernels = bounds.kernels
    cheapest = min(Fraction(bounds.request_cycles), Fraction(bounds.visit_cycles, WRITES_PER_VISIT))
    found = [
        Ceiling(
            name="ports",
            edge_cost=Fraction(READS_PER_EDGE * bounds.request_cycles, kernels),
            other_cost=cheapest / kernels,
        )
    ]
    if (shared := bounds.contention) is not None:
        rates = {"links": Fraction(bounds.engines * shared.links)}
        if (rows := shared.rows) is None:
            rates["banks"] = Fraction(shared.banks, shared.bank_busy)
        else:
            left = 1 - rows.refresh / rows.refresh_interval
            rates["channels"] = left * shared.controllers / rows.burst
            rates["rows"] = left * shared.controllers / rows.activate
        found += [
            Ceiling(name=name, edge_cost=READS_PER_EDGE / rate, other_cost=1 / rate) for name, rate in rates.items()
        ]
    return tuple(found)
